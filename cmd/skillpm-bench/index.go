package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/index"
)

// indexed returns the pack of a number in a large index: a name of two words, a description and three skills. Numbers
// give the packs in the order of their names.
func (w *writer) indexed(number int) index.Line {
	name := fmt.Sprintf("owner-%07d/%s-%s", number, w.pick(), w.pick())
	line := index.Line{
		Name: name, Version: version, Published: "2026-01-02T03:04:05Z", Source: "oci://registry.example/" + name,
		Description: w.sentence(),
		Digest:      "sha256:" + strings.Repeat("0", 64), Integrity: "t1:sha256:" + strings.Repeat("0", 64),
		Tags: []string{w.pick(), w.pick()},
	}
	for i := range 3 {
		line.Skills = append(line.Skills, index.Skill{
			Name: fmt.Sprintf("s%d-%s", i, w.pick()), Description: w.sentence() + " " + w.sentence(),
			Tree: "t1:sha256:" + strings.Repeat("0", 64),
		})
	}
	return line
}

// largeIndex makes an index of --packs packs, and returns its directory and the pack in the middle. With
// files, each pack has its own, too, and not only its line in the catalog.
func (b *bench) largeIndex(ctx context.Context, files bool) (dir string, middle index.Line, err error) {
	dir = filepath.Join(b.dir, "index")
	if files {
		dir += "-files"
	}
	b.note("generating an index of %d packs", b.indexPacks)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", middle, err
	}
	if err := os.WriteFile(filepath.Join(dir, index.ConfigPath), (&index.Config{Version: index.FormatVersion}).Encode(),
		0o644); err != nil {
		return "", middle, err
	}
	f, err := os.Create(filepath.Join(dir, index.CatalogPath))
	if err != nil {
		return "", middle, err
	}
	defer f.Close()
	out := bufio.NewWriterSize(f, 1<<20)
	var failed error
	err = index.WriteCatalog(out, func(yield func(index.CatalogEntry) bool) {
		w := newWriter(7)
		for number := range b.indexPacks {
			line := w.indexed(number)
			if number == b.indexPacks/2 {
				middle = line
			}
			if failed = ctx.Err(); failed == nil && files {
				failed = writePack(dir, line)
			}
			entry, _ := (&index.Entry{Versions: []index.Line{line}}).Catalog() // it was not withdrawn
			if failed != nil || !yield(entry) {
				return
			}
		}
	})
	return dir, middle, errors.Join(failed, err, out.Flush())
}

func writePack(dir string, line index.Line) error {
	id, err := pack.ParseID(line.Name)
	if err != nil {
		return err
	}
	path := filepath.Join(dir, filepath.FromSlash(index.Path(id)))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, line.Encode(), 0o644)
}

// inLargeIndex returns a run of skillpm in a project whose one registry is a large index. What it prints has to have
// something in it.
func (b *bench) inLargeIndex(ctx context.Context, files bool, args func(middle index.Line) []string) (contestant,
	error,
) {
	project := b.project("ours")
	dir, middle, err := b.largeIndex(ctx, files)
	if err == nil {
		err = b.fresh(b.home("ours"), project)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(project, "skillpm.yaml"),
			fmt.Appendf(nil, "registries:\n  - {name: large, url: %q}\n", dir), 0o644)
	}
	line := args(middle)
	j := b.job("ours", project, append([]string{b.tools.skillpm.path}, line...))
	c := contestant{title: "skillpm " + line[0], job: j, after: func() error {
		output, err := os.ReadFile(j.Log)
		if err == nil && !strings.Contains(string(output), "owner-") {
			err = fmt.Errorf("the search did not find a pack: %s", output)
		}
		return err
	}}
	return c, err
}

// searchWords returns what to search for: two words that many packs have, and one that few have.
func searchWords(middle index.Line) []string {
	_, name, _ := strings.Cut(middle.Name, "/")
	w := newWriter(7)
	return append([]string{"search", w.vocabulary[3], w.vocabulary[40]}, strings.Split(name, "-")...)
}

func searchLarge(ctx context.Context, b *bench, _ benchPack) (contestant, contestant, error) {
	ours, err := b.inLargeIndex(ctx, false, searchWords)
	if err == nil {
		err = b.runOnce(ctx, ours)
	}
	return ours, contestant{}, err
}

func searchFirst(ctx context.Context, b *bench, _ benchPack) (contestant, contestant, error) {
	ours, err := b.inLargeIndex(ctx, false, searchWords)
	ours.before = func() error { return b.fresh(b.home("ours")) }
	return ours, contestant{}, err
}

func infoLarge(ctx context.Context, b *bench, _ benchPack) (contestant, contestant, error) {
	ours, err := b.inLargeIndex(ctx, true, func(middle index.Line) []string { return []string{"info", middle.Name} })
	return ours, contestant{}, err
}
