package sandbox

// order is what the helper is told.
type order struct {
	Path string   `json:"path"` // the program
	Argv []string `json:"argv"`
	Env  []string `json:"env"`
	Dir  string   `json:"dir"`

	Links []link        `json:"links"`
	Paths []visiblePath `json:"places"` // parents before what lies in them
	Temp  string        `json:"temp"`   // the directory for temporary files
	Root  string        `json:"root"`   // the directory that becomes the root

	Network string `json:"network"` // networkAny, networkProxy or networkNone
}

// What the helper does about the network.
const (
	networkAny   = "any"
	networkProxy = "proxy"
	networkNone  = "none"
)

// visiblePath is a file or directory that the command sees.
type visiblePath struct {
	Path  string `json:"path"` // without links
	Dir   bool   `json:"dir"`
	Write bool   `json:"write"`
}

// link is a symbolic link on the way to a place.
type link struct {
	Path   string `json:"path"`
	Target string `json:"target"`
}

// reply is what the helper says: that the command was started, or why not, and then how it ended.
type reply struct {
	Started     bool   `json:"started,omitempty"`
	Ended       bool   `json:"ended,omitempty"`
	Code        int    `json:"code,omitempty"`
	Signal      string `json:"signal,omitempty"`
	Errno       int    `json:"errno,omitempty"`       // why the program could not be executed
	Unavailable string `json:"unavailable,omitempty"` // what the machine does not have
}
