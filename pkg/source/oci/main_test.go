package oci_test

import (
	"testing"

	"github.com/skillpm/skillpm/pkg/internal/testkit"
)

func TestMain(m *testing.M) {
	testkit.UseMemory()
	m.Run()
}
