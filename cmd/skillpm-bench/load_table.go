package main

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// tables returns the report as Markdown.
func (r loadReport) tables() string {
	commands := [][]string{{"command", "index requests", "304", "received", "sent", "registry requests", "304", "received", "sent"}}
	for _, c := range r.Commands {
		commands = append(commands, append(append([]string{c.Command}, c.Index.cells()...), c.Registry.cells()...))
	}
	servers := [][]string{{
		"server", "request", "bytes", "requests", "errors", "a second", "a second per core", "p50 ms", "p99 ms", "cache hits",
	}}
	for _, s := range r.Servers {
		hits, core := "–", "–"
		if all := s.Hits + s.Misses; all > 0 {
			hits = fmt.Sprintf("%.1f%%", 100*float64(s.Hits)/float64(all))
		}
		if s.PerCore > 0 {
			core = fmt.Sprintf("%.0f", s.PerCore)
		}
		servers = append(servers, []string{
			s.Server, s.Request, strconv.FormatInt(s.Bytes, 10), strconv.Itoa(s.Requests), strconv.Itoa(s.Errors),
			fmt.Sprintf("%.0f", s.Rate), core, fmt.Sprintf("%.2f", s.P50), fmt.Sprintf("%.2f", s.P99), hits,
		})
	}
	var versions []string
	for _, name := range slices.Sorted(maps.Keys(r.Versions)) {
		versions = append(versions, name+": "+r.Versions[name])
	}
	return fmt.Sprintf("Index: %d packs, %d files, %.1f MB; the catalog has %.1f MB.\n\n", r.Index.Packs, r.Index.Files,
		float64(r.Index.Bytes)/1e6, float64(r.Index.CatalogBytes)/1e6) +
		render(commands) + "\n" + render(servers) + "\n" +
		fmt.Sprintf("On %s/%s with %d CPUs, which the load generator shares.\n%s\n", r.OS, r.Arch, r.CPUs,
			strings.Join(versions, "; "))
}

func (e exchange) cells() []string {
	return []string{
		strconv.Itoa(e.Requests), strconv.Itoa(e.NotModified), strconv.FormatInt(e.Received, 10),
		strconv.FormatInt(e.Sent, 10),
	}
}
