package evaluate

import (
	"context"
	"io"
)

//go:generate go run github.com/a-h/templ/cmd/templ@v0.3.960 generate

// WriteHTML writes a report as one self-contained HTML page, compared with an earlier report, which may be nil.
func WriteHTML(w io.Writer, r, base *Report) error {
	return htmlPage(r, Summarize(r, base)).Render(context.Background(), w)
}
