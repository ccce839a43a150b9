package sandbox

// order is the message with the helper's instructions.
type order struct {
	Path string   `json:"path"` // path of the program
	Argv []string `json:"argv"`
	Env  []string `json:"env"`
	Dir  string   `json:"dir"`

	Links []link        `json:"links"`
	Paths []visiblePath `json:"places"` // parents before their children
	Temp  string        `json:"temp"`   // directory for temporary files
	Root  string        `json:"root"`   // directory that becomes the root

	Network string `json:"network"` // networkAny, networkProxy, or networkNone
	NoUnix  bool   `json:"noUnix"`  // the command must not open Unix sockets
}

// The values of order.Network.
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

// link is a symbolic link that leads to a visible path.
type link struct {
	Path   string `json:"path"`
	Target string `json:"target"`
}

// reply is a message of the helper: whether the command was started, and later how it ended.
type reply struct {
	Started     bool   `json:"started,omitempty"`
	Ended       bool   `json:"ended,omitempty"`
	Code        int    `json:"code,omitempty"`
	Signal      string `json:"signal,omitempty"`
	Errno       int    `json:"errno,omitempty"`       // why the program could not be executed
	Unavailable string `json:"unavailable,omitempty"` // what the machine lacks
}
