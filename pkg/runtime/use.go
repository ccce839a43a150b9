package runtime

import (
	"context"
	"time"

	"github.com/skillpm/skillpm/pkg/policy/audit"
)

// The part of the audit log that counts as recent. It is read for each listing.
const (
	recentRecords = 1000
	recentTime    = 30 * 24 * time.Hour
)

// use identifies a skill in the audit log.
type use struct{ name, pack string }

// uses returns how often each skill was activated recently. Without a readable audit log no skill was.
func (h *Host) uses(ctx context.Context) map[use]int {
	counts := map[use]int{}
	if h.audit.Path() == "" {
		return counts
	}
	log := audit.Stream{Paths: []string{h.audit.Path()}, Reverse: true}
	since, seen := h.o.Now().Add(-recentTime).UTC().Format(time.RFC3339Nano), 0
	_ = log.Each(ctx, func(r audit.Record) (bool, error) { // no audit log is a log without uses
		if r.Time < since { // times in RFC 3339 and UTC sort as text
			return false, nil
		}
		if (r.Action == audit.Activate || r.Action == audit.Task) && r.Result == audit.OK {
			counts[use{r.Skill, r.Pack}]++
		}
		seen++
		return seen < recentRecords, nil
	})
	return counts
}
