package lint

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/diag/rule"
	"github.com/skillpm/skillpm/pkg/internal/scan"
)

// signal is one contribution to the score of a skill: a hit of a rule with points.
type signal struct {
	family scan.Signal
	points int
	alone  bool // it is an error by itself
	intent bool // an honest skill has no use for it
	rule   string
	about  string
	file   *file
	start  int
	end    int
}

// addSignal records a hit for the score.
func (u *skillCheck) addSignal(f *file, h scan.Hit, m scan.Match) {
	if m.Points == 0 {
		return
	}
	if r, ok := rule.Lookup(m.Rule.ID); ok && r.Off && !r.Capability {
		if _, off := u.l.Settings.level(r.ID, m.Severity); off {
			return
		}
	}
	points := m.Points
	if points < scan.Attack && isMarkdown(f.rel) && u.aboutSecurity() {
		points = (points + 1) / 2
	}
	u.signals = append(u.signals, signal{
		family: m.Rule.Signal, points: points, alone: m.Severity == diag.SeverityError, intent: showsIntent(m, points),
		rule:  m.Rule.ID,
		about: cmp.Or(h.Detail, m.Rule.Title), file: f, start: h.Start, end: h.End,
	})
}

// showsIntent reports whether a signal is more than something that a skill is able to do: an error, words against the
// user, a standing order, or a shape that shows it.
func showsIntent(m scan.Match, points int) bool {
	switch m.Rule.Signal {
	case "injection", "impersonation", "concealment", "standing-order":
		return points >= scan.Attack/2
	}
	return m.Intent || m.Severity == diag.SeverityError
}

// reportScore reports a skill whose signals together are those of an attack: at least two families of behavior, with at
// least [scan.Attack] points, of which one shows intent. Of each family, the signal with the most points counts, so that
// repetition adds nothing. An attack that is an error by itself is not reported again.
func (u *skillCheck) reportScore() {
	strongest := map[scan.Signal]signal{}
	for _, s := range u.signals {
		if s.points > strongest[s.family].points {
			strongest[s.family] = s
		}
	}
	var parts []signal
	total := 0
	for _, family := range scan.Signals {
		if s, ok := strongest[family]; ok {
			parts = append(parts, s)
			total += s.points
		}
	}
	if len(parts) < 2 || total < scan.Attack || !slices.ContainsFunc(u.signals, u.countsIntent) {
		return
	}
	slices.SortStableFunc(parts, func(a, b signal) int { return cmp.Compare(b.points, a.points) })
	if parts[0].alone && parts[0].points >= scan.Attack {
		return // it is reported
	}
	var words, related []string
	for _, s := range parts {
		line, _ := s.file.position(s.start)
		words = append(words, fmt.Sprintf("%s %d (%s, %s:%d: %s)", s.family, s.points, s.rule, s.file.rel, line, s.about))
		if s.file != parts[0].file && !slices.Contains(related, s.file.path) {
			related = append(related, s.file.path)
		}
	}
	u.at(parts[0].file.source, parts[0].start, parts[0].end, finding{
		rule: rule.Signals, related: related,
		message: fmt.Sprintf("%d points; %d or more are an error: %s", total, scan.Attack, strings.Join(words, ", ")),
	})
}

// countsIntent reports whether a signal shows intent where an agent acts on it: an error, or in SKILL.md or a file that
// is not a page. Long references have sentences that look like orders.
func (u *skillCheck) countsIntent(s signal) bool {
	return s.intent && (s.points >= scan.Attack || s.file.source == u.src || !isMarkdown(s.file.rel))
}

// aboutSecurity reports whether a skill's description is about security. The pages of such skills show what attackers
// do, so that their weaker signals count half.
func (u *skillCheck) aboutSecurity() bool {
	if u.doc == nil {
		return false
	}
	return scan.AboutSecurity(u.doc.Name() + " " + u.doc.Description())
}
