package sandbox

// order is the message with the helper's instructions. It is not JSON, which cannot hold a path that is not UTF-8.
type order struct {
	Path string // path of the program
	Argv []string
	Env  []string
	Dir  string

	Links []link
	Paths []visiblePath // parents before their children
	Temp  string        // directory for temporary files
	Root  string        // directory that becomes the root

	Network string // networkAny, networkProxy, or networkNone
	NoUnix  bool   // the command must not open Unix sockets
}

// The values of order.Network.
const (
	networkAny   = "any"
	networkProxy = "proxy"
	networkNone  = "none"
)

// visiblePath is a file or directory that the command sees.
type visiblePath struct {
	Path  string // without links
	Dir   bool
	Write bool
}

// link is a symbolic link that leads to a visible path.
type link struct {
	Path   string
	Target string
}

// reply is a message of the helper: whether the command was started, and later how it ended.
type reply struct {
	Started     bool   `json:"started,omitempty"`
	Ended       bool   `json:"ended,omitempty"`
	Code        int    `json:"code,omitempty"`
	Signal      string `json:"signal,omitempty"`
	Errno       int    `json:"errno,omitempty"`       // why the program could not be executed
	Unavailable string `json:"unavailable,omitempty"` // what the machine lacks
	Failed      string `json:"failed,omitempty"`      // why a path cannot be opened, on a machine that lacks nothing
}
