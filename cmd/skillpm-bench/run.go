package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Exit codes, as skillpm's.
const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitInterrupted = 130
)

// options are the flags.
type options struct {
	sizes           []int
	rows            []string
	runs            int
	patience        time.Duration
	large           int    // MiB
	indexPacks      int    // of the large index
	parent          string // of the directory that everything is written to
	keep, json      bool
	skillpm         string
	git             string
	oras            string
	skills          string
	registryProgram string
}

const help = `Compare the speed of skillpm with other programs. The benchmark generates the packs, and runs
the servers on this machine. It measures whole processes, and the programs take turns.

  go run ./cmd/skillpm-bench [flags]
  go run ./cmd/skillpm-bench inject --data DIR   # counts attacks that skillpm stops; see inject --help
  go run ./cmd/skillpm-bench scan --data DIR     # counts attacks that the scanner finds; see scan --help
  go run ./cmd/skillpm-bench load                # counts requests to servers; see load --help
  go run ./cmd/skillpm-bench find --data DIR --pool DIR  # counts skills that are found; see find --help

The other programs are git, oras, and npm's skills. The table shows which of these programs
are not in PATH. Use a RAM disk for --dir, such as /dev/shm on Linux, because the speed of a
disk varies more than the speed of the programs.

`

// parse reads the flags. It returns flag.ErrHelp when the help was asked for and printed.
func parse(args []string, stdout io.Writer) (options, error) {
	o := options{sizes: []int{10, 100, 1000}}
	f := flag.NewFlagSet("skillpm-bench", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.Func("sizes", "measure packs with these numbers of `SKILLS`, separated by commas (default 10,100,1000)",
		func(s string) (err error) {
			o.sizes, err = parseSizes(s)
			return err
		})
	f.Func("only", "measure only these `ROWS`, separated by commas", func(s string) error {
		o.rows = strings.Split(s, ",")
		return checkRows(o.rows)
	})
	f.IntVar(&o.runs, "runs", 7, "run each command this many `TIMES`, after one warm-up run")
	f.DurationVar(&o.patience, "patience", 3*time.Minute,
		"stop a row after this `TIME`")
	f.IntVar(&o.large, "large", 256, "generate `MIB` MiB of files for the pack of large files")
	f.IntVar(&o.indexPacks, "packs", 100_000, "generate this many `PACKS` for the large index")
	f.StringVar(&o.parent, "dir", "", "work in a new directory below `DIR`, best on a RAM disk, "+
		"and remove the directory at the end (default: the system's directory for temporary files)")
	f.BoolVar(&o.keep, "keep", false, "keep the directory with the packs and the installed skills")
	f.BoolVar(&o.json, "json", false, "print one JSON document instead of the table")
	f.StringVar(&o.skillpm, "skillpm", "", "measure the skillpm at `PATH` (default: built from this source)")
	f.StringVar(&o.git, "git", "", "use the git at `PATH`; none omits git")
	f.StringVar(&o.oras, "oras", "", "use the oras at `PATH`; none omits oras")
	f.StringVar(&o.skills, "skills", "",
		"use npm's skills at `PATH`, with node next to it or in PATH; none omits skills")
	f.StringVar(&o.registryProgram, "registry-program", "",
		"use the OCI registry at `PATH`, such as Debian's docker-registry (default: a registry in this process)")
	err := f.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		printHelp(stdout, f)
	case err != nil:
	case f.NArg() > 0:
		err = fmt.Errorf("unexpected argument %q", f.Arg(0))
	case o.runs < 1 || o.large < 1 || o.indexPacks < 1 || o.patience <= 0:
		err = errors.New("--runs, --large, --packs, and --patience must be positive")
	}
	return o, err
}

func printHelp(w io.Writer, f *flag.FlagSet) {
	fmt.Fprint(w, help, "Flags:\n")
	f.SetOutput(w)
	f.PrintDefaults()
	fmt.Fprint(w, "\nRows:\n")
	for _, r := range rows() {
		fmt.Fprintf(w, "  %-14s %s\n", r.name, r.about)
	}
}

func parseSizes(s string) ([]int, error) {
	var sizes []int
	for part := range strings.SplitSeq(s, ",") {
		n, err := strconv.Atoi(part)
		if err != nil || n < 1 || n > 9999 {
			return nil, fmt.Errorf("%q is not a number from 1 to 9999", part)
		}
		sizes = append(sizes, n)
	}
	return sizes, nil
}

func checkRows(names []string) error {
	var known []string
	for _, r := range rows() {
		known = append(known, r.name)
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			return fmt.Errorf("unknown row %q; the rows are %s", name, strings.Join(known, ", "))
		}
	}
	return nil
}

// run is the program: it returns the exit code.
func run(ctx context.Context, sys system) int {
	var err error
	switch {
	case len(sys.Args) == 1 && sys.Args[0] == launchCommand:
		err = sys.launcher()
	case len(sys.Args) > 0 && sys.Args[0] == injectCommand:
		err = runInject(ctx, sys)
	case len(sys.Args) > 0 && sys.Args[0] == findCommand:
		err = runFind(ctx, sys)
	case len(sys.Args) > 0 && sys.Args[0] == scanCommand:
		err = runScan(ctx, sys)
	case len(sys.Args) > 0 && sys.Args[0] == loadCommand:
		err = runLoad(ctx, sys)
	case len(sys.Args) > 0 && sys.Args[0] == registryCommand:
		err = runRegistry(ctx, sys)
	default:
		err = runBench(ctx, sys)
	}
	usage, badUsage := errors.AsType[usageError](err)
	switch {
	case err == nil:
		return exitOK
	case badUsage:
		fmt.Fprintf(sys.Stderr,
			"skillpm-bench: error: %v\nskillpm-bench: hint: list the flags and rows with --help\n", usage.error)
		return exitUsage
	case ctx.Err() != nil:
		fmt.Fprintln(sys.Stderr, "skillpm-bench: interrupted")
		return exitInterrupted
	}
	fmt.Fprintf(sys.Stderr, "skillpm-bench: error: %v\n", err)
	return exitFailed
}

// usageError is a mistake in the command line.
type usageError struct{ error }

// report is all that was measured, and where.
type report struct {
	OS       string            `json:"os"`
	Arch     string            `json:"arch"`
	CPUs     int               `json:"cpus"`
	Versions map[string]string `json:"versions"`
	Results  []result          `json:"results"`
}

func runBench(ctx context.Context, sys system) error {
	o, err := parse(sys.Args, sys.Stdout)
	if errors.Is(err, flag.ErrHelp) {
		return nil
	} else if err != nil {
		return usageError{err}
	}
	b := &bench{options: o, sys: sys, packs: map[string]benchPack{}}
	defer b.close()
	if err := b.open(ctx); err != nil {
		return err
	}
	rep := report{OS: runtime.GOOS, Arch: runtime.GOARCH, CPUs: runtime.NumCPU(), Versions: b.tools.versions()}
	rep.Results, err = b.measureAll(ctx)
	if len(rep.Results) > 0 { // of an interrupted run, too: it may have taken long
		err = errors.Join(err, rep.write(sys.Stdout, o.json))
	}
	if err != nil {
		return err
	}
	for _, r := range rep.Results {
		if r.Error != "" {
			return errors.New("cannot measure some rows")
		}
	}
	return nil
}

func (b *bench) measureAll(ctx context.Context) ([]result, error) {
	var results []result
	for _, r := range rows() {
		if len(b.rows) > 0 && !slices.Contains(b.rows, r.name) {
			continue
		}
		sizes := b.sizes
		if r.large {
			sizes = []int{-b.large}
		} else if r.runOnce {
			sizes = []int{0}
		}
		for _, n := range sizes {
			res, err := b.measureRow(ctx, r, n)
			if err != nil {
				return results, err
			}
			results = append(results, res)
		}
	}
	return results, nil
}

func (b *bench) measureRow(ctx context.Context, r row, n int) (result, error) {
	var p benchPack
	if !r.runOnce {
		var err error
		if p, err = b.pack(ctx, n); err != nil {
			return result{}, err
		}
	}
	b.note("measuring %s %s", r.name, p.Name)
	res, err := b.compare(ctx, r, p)
	res.Skills, res.MiB = max(n, 0), max(-n, 0)
	if res.Error != "" {
		b.note("%s: %s", r.name, res.Error)
	}
	return res, err
}
