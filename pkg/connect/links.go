package connect

import (
	"context"
	"os"
	"path/filepath"

	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/internal/txn"
)

// LinkRecord is what connect did to link skills for agents in one scope, so that disconnect can undo it.
type LinkRecord struct {
	Agents []string // ids of the agents that skills were linked for
	Shared bool     // the links in the shared directory are new
	// Previous is the content of the manifest before connect changed it. It is nil if connect did not change it, or if
	// the manifest changed since.
	Previous []byte
}

// links is the kind of the record of a manifest.
const links Kind = "links"

// LinkRecord returns the record of a manifest, which now has the content data.
func (e Env) LinkRecord(manifest string, data []byte) LinkRecord {
	r := e.records().Files[recordKey(links, manifest)]
	previous, ok := r.original(fileState{data: data, exists: true})
	if !ok {
		previous = nil
	}
	return LinkRecord{Agents: r.Agents, Shared: r.Shared, Previous: previous}
}

// SaveLinkRecord replaces the record of a manifest, which now has the content data. A record without agents is removed.
func (e Env) SaveLinkRecord(ctx context.Context, manifest string, data []byte, r LinkRecord) error {
	unlock, err := e.lock(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = unlock() }() // the lock ends with the process at the latest
	all := e.records()
	key := recordKey(links, manifest)
	if _, had := all.Files[key]; !had && len(r.Agents) == 0 {
		return nil
	}
	delete(all.Files, key)
	if len(r.Agents) > 0 {
		entry := record{Agents: r.Agents, Shared: r.Shared}
		if r.Previous != nil {
			entry.Before, entry.After = textx.SHA256(r.Previous), textx.SHA256(data)
			entry.Splices = []splice{difference(r.Previous, data)}
		}
		all.Files[key] = entry
	}
	return e.saveRecords(all)
}

// lock locks the records against other processes.
func (e Env) lock(ctx context.Context) (unlock func() error, err error) {
	if err := os.MkdirAll(e.State, 0o700); err != nil {
		return nil, err
	}
	return txn.Lock(ctx, filepath.Join(e.State, "attach.lock"))
}

// difference returns the one edit between two texts: what lies between their common start and their common end.
func difference(before, after []byte) splice {
	start := 0
	for start < len(before) && start < len(after) && before[start] == after[start] {
		start++
	}
	end := 0
	for end < min(len(before), len(after))-start && before[len(before)-1-end] == after[len(after)-1-end] {
		end++
	}
	return splice{Offset: start, Old: string(before[start : len(before)-end]), Length: len(after) - start - end}
}
