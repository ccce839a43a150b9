// Package mcpserver shows the skills of a session over the Model Context Protocol.
package mcpserver
