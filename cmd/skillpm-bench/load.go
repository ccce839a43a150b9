package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"time"
)

// loadCommand is the argument that measures servers.
const loadCommand = "load"

const loadHelp = `Measure what skillpm asks servers for, and how many requests servers answer.

  go run ./cmd/skillpm-bench load [flags]

The first table counts the requests and the bytes of skillpm's commands, as whole processes: with
empty caches as in CI, with full caches, and frozen. The index has --packs packs, and the installed
pack has --dependencies dependencies. Bytes are those on the connections, with headers.

The second table has requests to servers. The index is behind "skillpm index serve" and nginx. The
registries are olareg and Debian's docker-registry, alone and behind nginx. nginx runs with the
configuration docs/examples/nginx.conf. Servers that are not in PATH are left out.

The rate for each core is the number of requests divided by the CPU time of the server. The load
generator, on the same machine, does not count. The CPU time is known only on Linux.

`

// loadOptions are the flags of load.
type loadOptions struct {
	options
	loadFlags
}

// loadFlags are the flags that only load has.
type loadFlags struct {
	dependencies int
	duration     time.Duration
	connections  int
	nginx        string
}

func parseLoad(args []string, stdout io.Writer) (loadOptions, error) {
	var o loadOptions
	f := flag.NewFlagSet("skillpm-bench load", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.IntVar(&o.indexPacks, "packs", 100_000, "generate this many `PACKS` for the index")
	f.IntVar(&o.dependencies, "dependencies", 5, "generate this many `PACKS` that the installed pack requires")
	f.DurationVar(&o.duration, "duration", 5*time.Second, "send each kind of request for this `TIME`")
	f.IntVar(&o.connections, "connections", 16, "send requests over this many `CONNECTIONS` at once")
	f.StringVar(&o.parent, "dir", "", "work in a new directory below `DIR`, and remove the directory at the end "+
		"(default: the system's directory for temporary files)")
	f.BoolVar(&o.keep, "keep", false, "keep the directory")
	f.BoolVar(&o.json, "json", false, "print one JSON document instead of the tables")
	f.StringVar(&o.skillpm, "skillpm", "", "use the skillpm at `PATH` (default: built from this source)")
	f.StringVar(&o.nginx, "nginx", "", "use the nginx at `PATH`; none omits nginx")
	f.StringVar(&o.registryProgram, "registry-program", "",
		"use the docker-registry at `PATH`; none omits it")
	err := f.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(stdout, loadHelp, "Flags:\n")
		f.SetOutput(stdout)
		f.PrintDefaults()
	case err != nil:
	case f.NArg() > 0:
		err = fmt.Errorf("unexpected argument %q", f.Arg(0))
	case o.indexPacks < 1 || o.dependencies < 0 || o.duration <= 0 || o.connections < 1:
		err = errors.New("--packs, --duration, and --connections must be positive")
	}
	return o, err
}

// loadReport is all that was measured.
type loadReport struct {
	OS       string            `json:"os"`
	Arch     string            `json:"arch"`
	CPUs     int               `json:"cpus"`
	Versions map[string]string `json:"versions"`
	Index    indexSize         `json:"index"`
	Commands []commandLoad     `json:"commands"`
	Servers  []serverLoad      `json:"servers"`
}

// indexSize is the size of the generated index.
type indexSize struct {
	Packs        int   `json:"packs"`
	Files        int   `json:"files"`
	Bytes        int64 `json:"bytes"`         // of all files
	CatalogBytes int64 `json:"catalog_bytes"` // of catalog.ndjson.gz
}

// load is one run of the subcommand.
type load struct {
	bench
	loadFlags
	index   string // the directory of the index
	servers []*server
	report  loadReport

	indexCounter, registryCounter *counter // in front of "skillpm index serve" and olareg
}

func runLoad(ctx context.Context, sys system) error {
	o, err := parseLoad(sys.Args[1:], sys.Stdout)
	if errors.Is(err, flag.ErrHelp) {
		return nil
	} else if err != nil {
		return usageError{err}
	}
	l := &load{bench: bench{options: o.options, sys: sys, packs: map[string]benchPack{}}, loadFlags: o.loadFlags}
	defer l.close()
	for _, step := range []func(context.Context) error{
		l.openDirectory, l.startAll, l.publishAll, l.makeIndex, l.countCommands, l.driveServers,
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	l.report.OS, l.report.Arch, l.report.CPUs = runtime.GOOS, runtime.GOARCH, runtime.NumCPU()
	if o.json {
		enc := json.NewEncoder(sys.Stdout)
		enc.SetIndent("", "  ")
		return enc.Encode(l.report)
	}
	_, err = io.WriteString(sys.Stdout, l.report.tables())
	return err
}

// file returns the path of a file in the directory of the run.
func (l *load) file(elements ...string) string {
	return filepath.Join(append([]string{l.dir}, elements...)...)
}
