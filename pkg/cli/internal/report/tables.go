package report

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/skillpm/skillpm/pkg/policy/audit"
)

// name writes the name of a skill, with that of its pack.
func name(p *out, k audit.SkillStats) {
	p.put(`<tr><th scope="row">%`, k.Skill)
	if k.Pack != "" {
		p.put(`<small>%</small>`, k.Pack)
	}
	p.put("</th>")
}

// skills writes how often each skill was used.
func (s *Summary) skills(p *out) {
	all := s.stats.Skills()
	if len(all) == 0 {
		return
	}
	begin(p, "skills", "Skills", "The busiest first. Runs are those of scripts, commands, hooks and tasks.")
	legend(p, colours()...)
	most := int64(0)
	worked := func(k audit.SkillStats) int64 { return max(0, k.Runs-k.Failures) }
	for _, k := range all {
		most = max(most, k.Activations+worked(k)+k.Failures+k.Refusals)
	}
	table(p, "Skills", "Skill", "", "Activations", "Runs", "Failures", "Refusals", "Last use")
	for _, k := range all[:min(mostRows, len(all))] {
		name(p, k)
		meter(p, most, part{"accent", k.Activations}, part{"good", worked(k)}, part{"bad", k.Failures},
			part{"warn", k.Refusals})
		for _, of := range []int64{k.Activations, k.Runs, k.Failures, k.Refusals} {
			n(p, of)
		}
		last := time.Time{}
		if k.Last != nil {
			last = *k.Last
		}
		day(p, last)
		p.put("</tr>\n")
	}
	endTable(p, len(all)-mostRows, "skill")
	end(p)
}

// durations writes how long runs took.
func (s *Summary) durations(p *out) {
	all := slices.DeleteFunc(s.stats.Skills(), func(k audit.SkillStats) bool { return k.TotalMS == 0 })
	if len(all) == 0 {
		return
	}
	slices.SortFunc(all, func(a, b audit.SkillStats) int {
		return cmp.Or(cmp.Compare(b.P95MS, a.P95MS), cmp.Compare(a.Skill, b.Skill), cmp.Compare(a.Pack, b.Pack))
	})
	begin(p, "durations", "Durations", "How long runs took, the slowest first. Half of them took no longer than the median, the stronger part of the bar, and 95 of a hundred no longer than all of it; both are known to 5 %. The bars are logarithmic.")
	table(p, "Durations", "Skill", "", "Median", "95 %", "Mean", "Longest", "In all")
	for _, k := range all[:min(mostRows, len(all))] {
		name(p, k)
		meter(p, logarithm(all[0].P95MS), part{"accent", logarithm(k.P50MS)},
			part{"soft", logarithm(k.P95MS) - logarithm(k.P50MS)})
		for _, ms := range []int64{k.P50MS, k.P95MS, k.MeanMS, k.MaxMS, k.TotalMS} {
			p.put(`<td class="n">%</td>`, duration(ms))
		}
		p.put("</tr>\n")
	}
	endTable(p, len(all)-mostRows, "skill")
	end(p)
}

// logarithm returns a number that grows by the same whenever a duration becomes ten times as long.
func logarithm(ms int64) int64 { return int64(1000 * math.Log10(float64(max(0, ms))+1)) }

// whys writes why things were refused, and why they failed.
func (s *Summary) whys(p *out) {
	for _, part := range []struct {
		id, title, class string
		of               func(*reason) int64
	}{
		{"refusals", "Refusals", "warn", func(r *reason) int64 { return r.refused }},
		{"failures", "Failures", "bad", func(r *reason) int64 { return r.failed }},
	} {
		if top := s.topReasons(mostRows, part.of); len(top) > 0 {
			begin(p, part.id, part.title, "")
			whyTable(p, part.title, part.class, top, part.of)
			end(p)
		}
	}
}

func whyTable(p *out, title, class string, top []*reason, of func(*reason) int64) {
	table(p, title, "Reason", "", "Times", "Skills", "Last")
	for _, r := range top {
		p.put(`<tr><th scope="row" class="why">%</th>`, r.text)
		meter(p, of(top[0]), part{class, of(r)})
		n(p, of(r))
		n(p, int64(len(r.skills)))
		day(p, r.last)
		p.put("</tr>\n")
	}
	endTable(p, 0, "")
}

// places writes what was done on each machine.
func (s *Summary) places(p *out) {
	all := s.allMachines()
	begin(p, "machines", "Machines", "")
	legend(p, colours()...)
	most := int64(0)
	for _, m := range all {
		most = max(most, m.activations+m.worked+m.failed+m.refused)
	}
	table(p, "Machines", "Machine", "", "Users", "Activations", "Worked", "Failures", "Refusals", "Last")
	for _, m := range all[:min(mostRows, len(all))] {
		p.put(`<tr><th scope="row">%</th>`, m.name)
		meter(p, most, part{"accent", m.activations}, part{"good", m.worked}, part{"bad", m.failed},
			part{"warn", m.refused})
		for _, of := range []int64{int64(len(m.users)), m.activations, m.worked, m.failed, m.refused} {
			n(p, of)
		}
		day(p, m.last)
		p.put("</tr>\n")
	}
	endTable(p, len(all)-mostRows, "machine")
	end(p)
}
