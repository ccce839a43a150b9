package httpx

import (
	"errors"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// Cause returns the text of err without the URL that net/http puts in front and without the queries of others, escaped.
func Cause(err error) string {
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	return Clean(queries().ReplaceAllString(err.Error(), "$1"))
}

// queries are those of URLs in a text, which may be signed.
var queries = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(https?://[^\s"?]*)\?[^\s"]*`) })

// Clean makes a server's words fit for a terminal: one line, printable, not long.
func Clean(s string) string {
	const most = 200
	if len(s) > most {
		s = s[:most] + "…"
	}
	q := strconv.Quote(strings.ToValidUTF8(s, "?"))
	return strings.ReplaceAll(q[1:len(q)-1], `\"`, `"`)
}
