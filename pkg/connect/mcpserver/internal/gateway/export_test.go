package gateway

import "time"

// SetPauses has a gateway make other pauses: between two lists of one server's tools, and before it is tried again.
func (g *Gateway) SetPauses(relist, again time.Duration) { g.relist, g.again = relist, again }
