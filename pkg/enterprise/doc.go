// Package enterprise keeps the enterprise layer of a machine in step with a verified source.
package enterprise
