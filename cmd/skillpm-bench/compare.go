package main

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// result is the measurement of one row and size.
type result struct {
	Row     string   `json:"row"`
	Skills  int      `json:"skills,omitempty"`
	MiB     int      `json:"mib,omitempty"` // of the pack of large files
	Command string   `json:"command"`
	Ours    figures  `json:"skillpm"`
	Peer    string   `json:"peer,omitempty"`
	Theirs  *figures `json:"peer_figures,omitempty"`
	Missing string   `json:"peer_missing,omitempty"` // why the peer was not measured
	// the peer's runs were stopped after --patience: its figures are the least it took
	Stopped bool    `json:"peer_stopped,omitempty"`
	Ratio   *spread `json:"ratio,omitempty"` // of wall times
	Runs    int     `json:"runs"`
	Goal    target  `json:"goal,omitzero"`
	Verdict string  `json:"verdict,omitempty"`
	Error   string  `json:"error,omitempty"`
}

// errPatience stops a run that takes too long.
var errPatience = errors.New("stopped at the time limit")

// compare measures one row for one pack.
func (b *bench) compare(ctx context.Context, r row, p benchPack) (result, error) {
	res := result{Row: r.name, Goal: r.target}
	ours, theirs, err := r.prepare(ctx, b, p)
	res.Command, res.Peer, res.Missing = ours.title, theirs.title, theirs.missing
	if err == nil && ours.missing != "" {
		err = errors.New(ours.missing)
	}
	if err == nil {
		err = b.measureRuns(ctx, &res, ours, theirs)
	}
	if cause := context.Cause(ctx); cause != nil {
		return res, cause
	}
	if err != nil {
		res.Error = err.Error()
	}
	res.Verdict = res.Goal.verdict(res)
	return res, nil
}

// measureRuns runs two commands in turn. The first turn only warms up what can be warm, unless it alone used up the
// patience; then it is what there is.
func (b *bench) measureRuns(ctx context.Context, res *result, ours, theirs contestant) error {
	peer := theirs.title != "" && theirs.missing == ""
	var mine, others []usage
	start := b.sys.Now()
	for turn := 0; turn <= b.runs; turn++ {
		if turn == 1 && b.sys.Now().Sub(start) < b.patience {
			mine, others, start = nil, nil, b.sys.Now()
		} else if turn > 0 && b.sys.Now().Sub(start) > b.patience {
			break
		}
		u, err := b.measureOne(ctx, ours)
		if err != nil {
			return err
		}
		mine = append(mine, u)
		if !peer {
			continue
		}
		u, err = b.measureOne(ctx, theirs)
		if res.Stopped = errors.Is(err, errPatience); err != nil && !res.Stopped {
			return err
		}
		if others = append(others, u); res.Stopped {
			break
		}
	}
	res.Runs, res.Ours = len(mine), figuresOf(mine)
	if peer {
		theirs, ratio := figuresOf(others), ratioOf(mine, others)
		res.Theirs, res.Ratio = &theirs, &ratio
	}
	return nil
}

// measureOne makes the ground ready, measures a run and checks what it did.
func (b *bench) measureOne(ctx context.Context, c contestant) (usage, error) {
	if c.before != nil {
		if err := c.before(); err != nil {
			return usage{}, err
		}
	}
	limited, cancel := context.WithTimeoutCause(ctx, b.patience, errPatience)
	defer cancel()
	u, err := b.sys.launch(limited, c.job)
	if errors.Is(err, errPatience) {
		return usage{Wall: b.patience}, fmt.Errorf("%s: %w (%s)", c.title, err, b.patience.Round(time.Second))
	}
	if err != nil {
		return usage{}, err
	}
	if err := c.after(); err != nil {
		return usage{}, fmt.Errorf("%s: %w%s", c.title, err, logEnd(c.job.Log))
	}
	return u, nil
}
