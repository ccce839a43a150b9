package indexer

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"net"
	"net/http"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/bug"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
	"github.com/skillpm/skillpm/pkg/internal/textx"
)

// ServeOptions configure [Client.Serve].
type ServeOptions struct {
	Dir    string           // of the index; "" means the client's directory
	Listen string           // host:port; port 0 means a free port
	Cert   string           // certificate file, in PEM; "" for plain HTTP
	Key    string           // key file
	Ready  func(url string) // called with the address once the server listens
}

// Timeouts for clients, and for active requests at shutdown.
const (
	headTime  = 10 * time.Second
	idleTime  = 2 * time.Minute
	graceTime = 5 * time.Second
)

// Serve serves the files of an index until the context ends. It finishes active requests first.
func (c *Client) Serve(ctx context.Context, o ServeOptions) error {
	urlPath, err := c.open(o.Dir)
	if err != nil {
		return err
	}
	defer urlPath.close()
	if (o.Cert == "") != (o.Key == "") {
		return diag.Errorf(diag.Usage, "--tls-cert and --tls-key must be used together").
			WithHint("add the missing option, or remove the other one")
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", o.Listen)
	if err != nil {
		return diag.Errorf(diag.Usage, "%s: %w", o.Listen, err).
			WithHint("use --listen HOST:PORT; port 0 selects a free port")
	}
	server := &http.Server{Handler: Handler(urlPath.fsys), ReadHeaderTimeout: headTime, IdleTimeout: idleTime}
	ended := make(chan error, 1)
	scheme := "http://"
	if o.Cert != "" {
		scheme = "https://"
	}
	o.Ready(scheme + listener.Addr().String())
	bug.Go(func() {
		if o.Cert != "" {
			ended <- server.ServeTLS(listener, c.Machine.Abs(o.Cert), c.Machine.Abs(o.Key))
			return
		}
		ended <- server.Serve(listener)
	})
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), graceTime)
	defer cancel()
	if server.Shutdown(grace) != nil {
		return server.Close()
	}
	return nil
}

// maxServed is the maximum size of a file that is hashed and compressed in memory. Larger files are served directly.
const maxServed = 8 << 20

// Handler serves the files of an index: only regular files, no dot files except below .well-known, nothing behind a
// link, and no directory listings. Responses have an ETag, and are compressed for clients that accept it.
func Handler(fsys fs.FS) http.Handler { return files{fsys} }

type files struct{ fsys fs.FS }

func (h files) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	head := w.Header()
	head.Set("X-Content-Type-Options", "nosniff")
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		head.Set("Allow", "GET, HEAD")
		http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
		return
	}
	name, ok := h.name(r.URL.Path)
	if !ok {
		http.Error(w, "not found", http.StatusNotFound)
		return
	}
	f, err := safefile.OpenIn(h.fsys, name, 1<<40)
	if err != nil {
		http.Error(w, "not found", http.StatusNotFound)
		return
	}
	defer f.Close()
	info, err := f.Stat()
	content, seeks := f.(io.ReadSeeker)
	if err != nil || !seeks {
		http.Error(w, "cannot read the file", http.StatusInternalServerError)
		return
	}
	if t := typeOf(name); t != "" {
		head.Set("Content-Type", t)
	}
	head.Set("Cache-Control", "no-cache") // clients revalidate each time
	if info.Size() > maxServed {
		head.Set("ETag", `"`+strconv.FormatInt(info.Size(), 36)+"-"+strconv.FormatInt(info.ModTime().
			UnixNano(), 36)+`"`)
		http.ServeContent(w, r, name, info.ModTime(), content)
		return
	}
	data, err := io.ReadAll(content)
	if err != nil {
		http.Error(w, "cannot read the file", http.StatusInternalServerError)
		return
	}
	tag := textx.SHA256(data)[:32]
	if compressible(name) {
		head.Set("Vary", "Accept-Encoding")
		if packed, ok := compressed(r, data); ok {
			head.Set("Content-Encoding", "gzip")
			data, tag = packed, tag+"-gz"
		}
	}
	head.Set("ETag", `"`+tag+`"`)
	http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(data))
}

// name returns the file for a URL path.
func (h files) name(urlPath string) (string, bool) {
	name := strings.TrimPrefix(path.Clean("/"+urlPath), "/")
	if name == "" {
		name = "."
	}
	for part := range strings.SplitSeq(name, "/") {
		if strings.HasPrefix(part, ".") && part != "." && part != ".well-known" {
			return "", false
		}
	}
	if strings.ContainsAny(name, "\\~\x00") || !fs.ValidPath(name) { // Windows uses ~ in generated alternative names
		return "", false
	}
	mode := h.mode(name)
	if mode.IsDir() {
		name = path.Join(name, "index.html")
		mode = h.mode(name)
	}
	return name, mode.IsRegular()
}

// mode returns the type of a name. A name that is missing or behind a link is irregular.
func (h files) mode(name string) fs.FileMode {
	for i := range len(name) + 1 {
		if i < len(name) && name[i] != '/' {
			continue
		}
		info, err := fs.Lstat(h.fsys, name[:i])
		if err == nil && i == len(name) {
			return info.Mode()
		}
		if err != nil || !info.IsDir() {
			break
		}
	}
	return fs.ModeIrregular
}

// typeOf returns the media type of an index file, or "".
func typeOf(name string) string {
	switch path.Ext(name) {
	case ".ndjson":
		return "application/x-ndjson"
	case ".json":
		return "application/json"
	case ".gz":
		return "application/gzip"
	case ".html":
		return "text/html; charset=utf-8"
	case ".md", ".txt":
		return "text/plain; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	}
	return ""
}

func compressible(name string) bool {
	t := typeOf(name)
	return t != "" && t != "application/gzip"
}

// compressed returns a smaller encoding that the client accepts, unless it requests a range.
func compressed(r *http.Request, data []byte) ([]byte, bool) {
	if r.Header.Get("Range") != "" || len(data) < 512 || !accepts(r.Header.Get("Accept-Encoding")) {
		return nil, false
	}
	var buf bytes.Buffer
	zw, err := gzip.NewWriterLevel(&buf, 5)
	if err != nil {
		return nil, false
	}
	if _, err := zw.Write(data); err != nil || zw.Close() != nil {
		return nil, false
	}
	return buf.Bytes(), buf.Len() < len(data)
}

// accepts reports whether a client accepts gzip.
func accepts(encodings string) bool {
	for one := range strings.SplitSeq(encodings, ",") {
		name, weight, _ := strings.Cut(strings.TrimSpace(one), ";")
		if strings.EqualFold(strings.TrimSpace(name), "gzip") {
			q, err := strconv.ParseFloat(strings.TrimPrefix(strings.ReplaceAll(weight, " ", ""), "q="), 64)
			return weight == "" || err != nil || q > 0
		}
	}
	return false
}
