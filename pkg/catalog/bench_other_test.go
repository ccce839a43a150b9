//go:build !unix

package catalog_test

import "testing"

type processor struct{}

func startProcessor(*testing.B) processor { return processor{} }

func (processor) report() {}
