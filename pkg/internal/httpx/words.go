package httpx

import (
	"errors"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// Cause returns the text of err, escaped, without the URL that net/http prepends and without the queries of other URLs.
func Cause(err error) string {
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	return Clean(queries().ReplaceAllString(err.Error(), "$1"))
}

// queries matches the queries of URLs, which may contain signatures.
var queries = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(https?://[^\s"?]*)\?[^\s"]*`) })

// Clean makes a server's text safe for a terminal: one printable line of limited length.
func Clean(s string) string {
	const most = 200
	if len(s) > most {
		s = s[:most] + "…"
	}
	q := strconv.Quote(strings.ToValidUTF8(s, "?"))
	return strings.ReplaceAll(q[1:len(q)-1], `\"`, `"`)
}
