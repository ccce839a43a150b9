package httpx_test

import (
	"testing"

	"github.com/skillpm/skillpm/pkg/internal/httpx"
)

// TestHostReach checks the reach of addresses in every form, also of those that a gateway translates.
func TestHostReach(t *testing.T) {
	for host, want := range map[string]httpx.Reach{
		"169.254.169.254": httpx.ReachLink, "fe80::1": httpx.ReachLink, "ff02::1": httpx.ReachLink,
		"::ffff:169.254.169.254": httpx.ReachLink, "64:ff9b::a9fe:a9fe": httpx.ReachLink,
		"64:ff9b:1::a9fe:a9fe": httpx.ReachLink, "64:ff9b:1::7f00:1": httpx.ReachLocal,
		"64:ff9b:1:2::a9fe:a9fe": httpx.ReachPrivate,
		"127.0.0.1":              httpx.ReachLocal, "127.255.0.9": httpx.ReachLocal, "::1": httpx.ReachLocal, "0.0.0.0": httpx.ReachLocal,
		"::": httpx.ReachLocal, "LocalHost.": httpx.ReachLocal, "a.localhost": httpx.ReachLocal,
		"::ffff:127.0.0.1": httpx.ReachLocal, "64:ff9b::7f00:1": httpx.ReachLocal,
		"10.1.2.3": httpx.ReachPrivate, "172.31.0.1": httpx.ReachPrivate, "192.168.1.1": httpx.ReachPrivate,
		"100.64.0.1": httpx.ReachPrivate, "fd00::1": httpx.ReachPrivate, "64:ff9b::a01:203": httpx.ReachPrivate,
		"8.8.8.8": httpx.ReachPublic, "172.32.0.1": httpx.ReachPublic, "2001:4860::1": httpx.ReachPublic,
		"64:ff9b::808:808": httpx.ReachPublic, "10.1": httpx.ReachPrivate, "2130706433": httpx.ReachLocal,
	} {
		if got, known := httpx.HostReach(host); got != want || !known {
			t.Errorf("%s: reach %d (known: %v), want %d", host, got, known, want)
		}
	}
	for _, host := range []string{"registry.example", "localhost.example", "", "10.1.2.3.4", "4294967296", "1.2.3.256", "0b1.2", "1_0", "a.1", "1..2"} {
		if got, known := httpx.HostReach(host); known {
			t.Errorf("%q: reach %d, but it is the name of a server", host, got)
		}
	}
}
