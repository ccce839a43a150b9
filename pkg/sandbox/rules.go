package sandbox

// Rules are what a confined command may do. What they do not name it may not, but for what every program needs to start.
type Rules struct {
	Read    []string `json:"read,omitempty"`  // absolute files and directories that may be read, and programs there run
	Write   []string `json:"write,omitempty"` // absolute files and directories that may be read, changed and made, too
	Network Network  `json:"network"`
}

// Network is what a confined command may connect to. The zero value is nothing.
type Network struct {
	Any   bool     `json:"any,omitempty"`   // everything
	Ports []uint16 `json:"ports,omitempty"` // TCP ports, on any host
	Hosts []string `json:"hosts,omitempty"` // host:port, as "api.example.com:443", and "*.example.com:443"
}
