package main

import (
	"context"
	"fmt"
	"slices"
)

// findReport is what the engines find.
type findReport struct {
	Pool      int            `json:"pool"`      // skills of the first table
	Threshold float64        `json:"threshold"` // of skillpm
	Routes    []routeCount   `json:"routes"`
	Triggers  []triggerCount `json:"triggers"`

	missed []string
}

// positions are the parts of a set of queries.
func positions() []string { return []string{"even", "odd", "all"} }

// within reports whether a query is in a part.
func within(part string, i int) bool { return part == "all" || part == "even" == (i%2 == 0) }

// routeCount is how well an engine finds the skills of tasks. Shares are from 0 to 1.
type routeCount struct {
	Engine    string  `json:"engine"`
	Positions string  `json:"positions"`
	Tasks     int     `json:"tasks"`
	Hit1      float64 `json:"hit_1"`
	Hit5      float64 `json:"hit_5"`
	Recall10  float64 `json:"recall_10"`
}

func (r *findReport) route(ctx context.Context, e engine, set *routing) error {
	find, err := e.open(set.skills)
	if err != nil {
		return err
	}
	counts := map[string]*routeCount{}
	for _, part := range positions() {
		counts[part] = &routeCount{Engine: e.name, Positions: part}
	}
	for i, task := range set.tasks {
		if err := ctx.Err(); err != nil {
			return err
		}
		found, err := find(task.text)
		if err != nil {
			return err
		}
		first, among := len(found), 0
		for at, f := range found {
			if task.core[f.name] {
				first = min(first, at)
			}
			if task.gold[f.name] && at < 10 {
				among++
			}
		}
		if i%2 == 0 && first > 0 && e.threshold > 0 {
			r.missed = append(r.missed, fmt.Sprintf("task %s: rank %d, first is %s", task.id, first+1, firstName(found)))
		}
		for part, c := range counts {
			if within(part, i) {
				c.Tasks++
				c.Hit1 += truth(first == 0)
				c.Hit5 += truth(first < 5)
				c.Recall10 += float64(among) / float64(len(task.gold))
			}
		}
	}
	for _, part := range positions() {
		c := counts[part]
		for _, share := range []*float64{&c.Hit1, &c.Hit5, &c.Recall10} {
			*share /= float64(max(c.Tasks, 1))
		}
		r.Routes = append(r.Routes, *c)
	}
	return nil
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

func firstName(found []ranked) string {
	if len(found) == 0 {
		return "nothing"
	}
	return found[0].name
}

// triggerCount is how an engine answers prompts.
type triggerCount struct {
	Engine     string `json:"engine"`
	Positions  string `json:"positions"`
	Positive   int    `json:"positive"`
	First      int    `json:"first"`
	Found      int    `json:"found"` // first, and above the threshold
	Negative   int    `json:"negative"`
	Rejected   int    `json:"rejected"`
	Below      int    `json:"below"` // the skill is below the threshold, wherever it is ranked
	Owned      int    `json:"owned"`
	OwnerFirst int    `json:"owner_first"`
}

func (r *findReport) trigger(ctx context.Context, e engine, set *triggers) error {
	find, err := e.open(set.skills)
	if err != nil {
		return err
	}
	for _, part := range positions() {
		c := triggerCount{Engine: e.name, Positions: part}
		for i, p := range set.positive {
			if !within(part, i) {
				continue
			}
			found, err := find(p.Prompt)
			if err = firstError(ctx, err); err != nil {
				return err
			}
			c.Positive++
			if firstName(found) != p.skill {
				if part == "even" && e.threshold > 0 {
					r.missed = append(r.missed, fmt.Sprintf("prompt %q: not %s, but %s", p.Prompt, p.skill, firstName(found)))
				}
				continue
			}
			c.First++
			if found[0].score >= e.threshold {
				c.Found++
			}
		}
		for i, p := range set.negative {
			if !within(part, i) {
				continue
			}
			found, err := find(p.Prompt)
			if err = firstError(ctx, err); err != nil {
				return err
			}
			c.Negative++
			if firstName(found) != p.skill || found[0].score < e.threshold {
				c.Rejected++
			}
			if at := rankOf(found, p.skill); at == len(found) || found[at].score < e.threshold {
				c.Below++
			}
			if p.Owner != "" && set.names[p.Owner] {
				c.Owned++
				if rankOf(found, p.Owner) < rankOf(found, p.skill) {
					c.OwnerFirst++
				}
			}
		}
		r.Triggers = append(r.Triggers, c)
	}
	return nil
}

// firstError returns the error, or that of the context.
func firstError(ctx context.Context, err error) error {
	if err != nil {
		return err
	}
	return ctx.Err()
}

// rankOf returns the index of a skill among the results, their number if it is not there.
func rankOf(found []ranked, name string) int {
	if i := slices.IndexFunc(found, func(f ranked) bool { return f.name == name }); i >= 0 {
		return i
	}
	return len(found)
}

// table returns the counts as Markdown.
func (r findReport) table() string {
	percent := func(share float64) string { return fmt.Sprintf("%.1f%%", 100*share) }
	of := func(n, all int) string {
		if all == 0 {
			return "–"
		}
		return fmt.Sprintf("%d (%s)", n, percent(float64(n)/float64(all)))
	}
	routes := [][]string{{"engine", "positions", "tasks", "Hit@1", "Hit@5", "R@10"}}
	for _, c := range r.Routes {
		routes = append(routes, []string{
			c.Engine, c.Positions, fmt.Sprint(c.Tasks), percent(c.Hit1), percent(c.Hit5), percent(c.Recall10),
		})
	}
	prompts := [][]string{{"engine", "positions", "positive", "first", "found", "negative", "rejected", "below", "owner first"}}
	for _, c := range r.Triggers {
		below := "–"
		if c.Engine == engines()[0].name { // the others have no threshold
			below = of(c.Below, c.Negative)
		}
		prompts = append(prompts, []string{
			c.Engine, c.Positions, fmt.Sprint(c.Positive), of(c.First, c.Positive), of(c.Found, c.Positive),
			fmt.Sprint(c.Negative), of(c.Rejected, c.Negative), below, of(c.OwnerFirst, c.Owned),
		})
	}
	return fmt.Sprintf("Routing among %d skills:\n\n%s\nTriggers, threshold %.2f:\n\n%s", r.Pool, render(routes),
		r.Threshold, render(prompts))
}
