package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/index"
)

// serverLoad is how a server answers one kind of request.
type serverLoad struct {
	Server   string  `json:"server"`
	Request  string  `json:"request"`
	Requests int     `json:"requests"`
	Errors   int     `json:"errors"`
	Bytes    int64   `json:"bytes"`      // of the body, for each request
	Rate     float64 `json:"per_second"` // with the load generator on the same machine
	PerCore  float64 `json:"per_second_and_core"`
	P50      float64 `json:"p50_ms"`
	P99      float64 `json:"p99_ms"`
	Hits     int     `json:"cache_hits"`
	Misses   int     `json:"cache_misses"`
}

// requestKind is one kind of request.
type requestKind struct {
	server  *server
	title   string
	paths   []string // in turn
	header  http.Header
	prepare bool // send each path once before the measurement, so that caches have it
}

// driveServers sends each kind of request for a while.
func (l *load) driveServers(ctx context.Context) error {
	kinds, err := l.requestKinds(ctx)
	if err != nil {
		return err
	}
	for _, t := range kinds {
		l.note("sending requests: %s, %s", t.server.name, t.title)
		row, err := l.drive(ctx, t)
		if err != nil {
			return fmt.Errorf("%s, %s: %w", t.server.name, t.title, err)
		}
		l.report.Servers = append(l.report.Servers, row)
	}
	return nil
}

func (l *load) requestKinds(ctx context.Context) (all []requestKind, err error) {
	var files []string
	w := newWriter(7)
	for number := range min(l.indexPacks, 10_000) { // more than a server keeps open
		id, err := pack.ParseID(w.indexed(number).Name)
		if err != nil {
			return nil, err
		}
		files = append(files, "/"+index.Path(id))
	}
	for _, s := range l.servers {
		switch {
		case strings.Contains(s.name, "index"):
			one := files[:1]
			etag, err := etagOf(ctx, "http://"+s.host+one[0])
			if err != nil {
				return nil, err
			}
			gzip := http.Header{"Accept-Encoding": {"gzip"}}
			current := http.Header{"Accept-Encoding": {"gzip"}, "If-None-Match": {etag}}
			all = append(all,
				requestKind{server: s, title: "files of many packs", paths: files, header: gzip},
				requestKind{server: s, title: "file of a pack, unchanged (304)", paths: one, header: current})
		default:
			list, err := l.registryKinds(ctx, s)
			if err != nil {
				return nil, err
			}
			all = append(all, list...)
		}
	}
	return all, nil
}

// registryKinds are the requests of an installation.
func (l *load) registryKinds(ctx context.Context, s *server) ([]requestKind, error) {
	accept := http.Header{"Accept": {"application/vnd.oci.image.manifest.v1+json"}}
	repository := "/v2/" + owner + "/main/"
	data, digest, err := fetchManifest(ctx, "http://"+s.host+repository+"manifests/"+version, accept)
	if err != nil {
		return nil, err
	}
	var m struct {
		Layers []struct{ Digest string }
	}
	if err := json.Unmarshal(data, &m); err != nil || len(m.Layers) == 0 {
		return nil, errors.New("the manifest does not have a layer")
	}
	return []requestKind{
		{server: s, title: "tag", paths: []string{repository + "manifests/" + version}, header: accept, prepare: true},
		{server: s, title: "manifest by digest", paths: []string{repository + "manifests/" + digest}, header: accept, prepare: true},
		{server: s, title: "layer", paths: []string{repository + "blobs/" + m.Layers[0].Digest}, prepare: true},
	}, nil
}

func etagOf(ctx context.Context, url string) (string, error) {
	resp, err := get(ctx, http.DefaultClient, url, http.Header{"Accept-Encoding": {"gzip"}})
	if err != nil {
		return "", err
	}
	resp.Body.Close()
	return resp.Header.Get("ETag"), nil
}

func fetchManifest(ctx context.Context, url string, header http.Header) (data []byte, digest string, err error) {
	resp, err := get(ctx, http.DefaultClient, url, header)
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close()
	data, err = io.ReadAll(resp.Body)
	return data, resp.Header.Get("Docker-Content-Digest"), err
}

// get sends a request. A status other than 200 and 304 is an error.
func get(ctx context.Context, client *http.Client, url string, header http.Header) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	if req.Header = header.Clone(); header == nil {
		req.Header = http.Header{}
	}
	resp, err := client.Do(req)
	if err == nil && resp.StatusCode != http.StatusOK && resp.StatusCode != http.StatusNotModified {
		resp.Body.Close()
		return nil, fmt.Errorf("%s responded with %s", url, resp.Status)
	}
	return resp, err
}

// drive sends requests of one kind over several connections.
func (l *load) drive(ctx context.Context, t requestKind) (serverLoad, error) {
	row := serverLoad{Server: t.server.name, Request: t.title}
	client := &http.Client{Transport: &http.Transport{
		MaxIdleConnsPerHost: l.connections, MaxConnsPerHost: l.connections, DisableCompression: true,
	}}
	defer client.CloseIdleConnections()
	if t.prepare {
		for _, path := range t.paths {
			resp, err := get(ctx, client, "http://"+t.server.host+path, t.header)
			if err != nil {
				return row, err
			}
			_, _ = io.Copy(io.Discard, resp.Body) // the next request shows whether the server works
			resp.Body.Close()
		}
	}
	before, _ := cpuOf(t.server.pid)
	start := l.sys.Now()
	end := start.Add(l.duration)
	var (
		mu    sync.Mutex
		group sync.WaitGroup
		times []time.Duration
		bytes int64
	)
	for worker := range l.connections {
		group.Go(func() {
			own := serverLoad{}
			var took []time.Duration
			var received int64
			for i := worker; ctx.Err() == nil; i += l.connections {
				began := l.sys.Now()
				if !began.Before(end) {
					break
				}
				n, status, err := l.exchange(ctx, client, t, i)
				took = append(took, l.sys.Now().Sub(began))
				if received += n; err != nil {
					own.Errors++
				}
				switch status {
				case "HIT", "STALE", "UPDATING":
					own.Hits++
				case "MISS", "EXPIRED", "BYPASS":
					own.Misses++
				}
			}
			mu.Lock()
			defer mu.Unlock()
			times, bytes = append(times, took...), bytes+received
			row.Errors, row.Hits, row.Misses = row.Errors+own.Errors, row.Hits+own.Hits, row.Misses+own.Misses
		})
	}
	group.Wait()
	wall := l.sys.Now().Sub(start)
	after, known := cpuOf(t.server.pid)
	if row.Requests = len(times); row.Requests == 0 || ctx.Err() != nil {
		return row, errors.Join(ctx.Err(), errors.New("no request was answered"))
	}
	slices.Sort(times)
	ms := func(p int) float64 { return float64(times[(len(times)-1)*p/100].Microseconds()) / 1000 }
	row.P50, row.P99, row.Bytes = ms(50), ms(99), bytes/int64(row.Requests)
	row.Rate = float64(row.Requests) / wall.Seconds()
	if cpu := after - before; known && cpu > 0 {
		row.PerCore = float64(row.Requests) / cpu.Seconds()
	}
	return row, nil
}

// exchange sends one request, and returns the size of the answer and whether a cache had it.
func (l *load) exchange(ctx context.Context, client *http.Client, t requestKind, i int) (n int64, cache string, err error) {
	resp, err := get(ctx, client, "http://"+t.server.host+t.paths[i%len(t.paths)], t.header)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	n, err = io.Copy(io.Discard, resp.Body)
	return n, resp.Header.Get("X-Cache-Status"), err
}
