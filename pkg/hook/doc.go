// Package hook answers the hooks of agents: an event of the host goes in, and what the host is told comes out.
package hook
