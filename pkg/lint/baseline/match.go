package baseline

import "time"

// Matcher holds findings against a baseline, each entry of which accepts as many as it counts. It is for one goroutine.
type Matcher struct {
	entries []Entry
	now     time.Time
	at      map[Finding]int // position in entries
	left    []int           // of each entry, how many findings it can still accept
}

// Matcher returns a matcher for the time now.
func (b *Baseline) Matcher(now time.Time) *Matcher {
	m := &Matcher{entries: b.Entries, now: now, at: make(map[Finding]int, len(b.Entries)), left: make([]int, len(b.Entries))}
	for i, e := range b.Entries {
		m.at[e.Finding] = i
		m.left[i] = e.Count
	}
	return m
}

// Accept reports whether a finding is accepted, and returns the entry that accepts it. For one that an expired entry is
// about, it returns that entry and false.
func (m *Matcher) Accept(f Finding) (Entry, bool) {
	i, ok := m.at[f]
	if !ok || m.left[i] == 0 {
		return Entry{}, false
	}
	m.left[i]--
	return m.entries[i], !m.entries[i].expired(m.now)
}

// Stale returns the entries that have accepted fewer findings than they count, with Count as the number that is
// missing. Those are mended, and their entries can go. Of a run that did not look at every file, the caller leaves out
// entries about the others.
func (m *Matcher) Stale() []Entry {
	var stale []Entry
	for i, e := range m.entries {
		if m.left[i] > 0 {
			e.Count = m.left[i]
			stale = append(stale, e)
		}
	}
	return stale
}

// Expired returns the entries whose day has come, whether or not there are findings that they are about.
func (m *Matcher) Expired() []Entry {
	var expired []Entry
	for _, e := range m.entries {
		if e.expired(m.now) {
			expired = append(expired, e)
		}
	}
	return expired
}
