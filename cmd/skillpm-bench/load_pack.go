package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/index"
)

// skillsOfPack is how many skills the packs have that load installs.
const skillsOfPack = 2

// loadNames returns the packs: first the one that is installed, then those that it requires.
func (l *load) loadNames() []string {
	names := []string{"main"}
	for i := range l.dependencies {
		names = append(names, fmt.Sprintf("base-%d", i+1))
	}
	return names
}

// publishAll generates the packs, and publishes them to all registries. Those in olareg are published through its
// counter, whose address the index has.
func (l *load) publishAll(ctx context.Context) error {
	l.note("publishing %d packs", 1+l.dependencies)
	registry := l.find("olareg")
	counter, err := newCounter(registry.host)
	if err != nil {
		return err
	}
	l.stops = append(l.stops, counter.stop)
	l.registryCounter = counter
	targets := []string{counter.host}
	for _, s := range l.servers {
		if s.name == "docker-registry" {
			targets = append(targets, s.host)
		}
	}
	for i, name := range l.loadNames() {
		p, err := generate(l.file("packs", name), name, skillsOfPack)
		if err != nil {
			return err
		}
		if i == 0 && l.dependencies > 0 {
			if err := requireAll(p.Dir, l.loadNames()[1:]); err != nil {
				return err
			}
		}
		for _, host := range targets {
			if _, err := output(ctx, p.Dir, l.environ("server"), l.tools.skillpm.path, "publish", "--quiet", "--to",
				"oci://"+host+"/"+owner); err != nil {
				return err
			}
		}
	}
	return nil
}

// requireAll adds dependencies to the manifest of a pack.
func requireAll(dir string, names []string) error {
	f, err := os.OpenFile(filepath.Join(dir, pack.ManifestName), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(f, "dependencies:\n")
	for _, name := range names {
		_, wrong := fmt.Fprintf(f, "  %s/%s: \"^%s\"\n", owner, name, version)
		err = errors.Join(err, wrong)
	}
	return errors.Join(err, f.Close())
}

// makeIndex makes the index: generated packs, and those that were published.
func (l *load) makeIndex(ctx context.Context) error {
	small := l.file("index-small")
	run := func(args ...string) error {
		_, err := output(ctx, l.dir, l.environ("server"), l.tools.skillpm.path, args...)
		return err
	}
	if err := run("index", "init", small); err != nil {
		return err
	}
	for _, name := range l.loadNames() {
		source := fmt.Sprintf("oci://%s/%s/%s:%s", l.registryCounter.host, owner, name, version)
		if err := run("index", "add", source, "--index", small); err != nil {
			return err
		}
	}
	if _, _, err := l.largeIndex(ctx, true); err != nil {
		return err
	}
	if err := copyTree(filepath.Join(small, "packs"), filepath.Join(l.index, "packs")); err != nil {
		return err
	}
	if err := run("index", "build", l.index); err != nil {
		return err
	}
	l.report.Index.Packs = l.indexPacks + 1 + l.dependencies
	err := filepath.WalkDir(l.index, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err == nil {
			l.report.Index.Files++
			l.report.Index.Bytes += info.Size()
		}
		return err
	})
	if err != nil {
		return err
	}
	info, err := os.Stat(filepath.Join(l.index, index.CatalogPath))
	if err != nil {
		return err
	}
	l.report.Index.CatalogBytes = info.Size()
	cmd, err := l.serveIndex(ctx)
	if err != nil {
		return err
	}
	l.servers = append(l.servers, cmd)
	l.indexCounter, err = newCounter(cmd.host)
	if err == nil {
		l.stops = append(l.stops, l.indexCounter.stop)
	}
	return err
}

// copyTree copies the files of a directory into another one.
func copyTree(from, to string) error {
	return filepath.WalkDir(from, func(name string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		target := filepath.Join(to, strings.TrimPrefix(name, from))
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		return errors.Join(os.MkdirAll(filepath.Dir(target), 0o755), os.WriteFile(target, data, 0o644))
	})
}

// changeIndex adds a version to a generated pack, as a day's changes do, and builds the catalog again.
func (l *load) changeIndex(ctx context.Context, number int) error {
	w := newWriter(uint64(number))
	line := w.indexed(number)
	line.Version = "1.0." + fmt.Sprint(number+1)
	if err := writePack(l.index, line); err != nil {
		return err
	}
	_, err := output(ctx, l.dir, l.environ("server"), l.tools.skillpm.path, "index", "build", l.index)
	return err
}
