package gateway

import "time"

// SetPauses sets a gateway's pauses: between two lists of one server's tools, and before another attempt to start it.
func (g *Gateway) SetPauses(relist, again time.Duration) { g.relist, g.again = relist, again }
