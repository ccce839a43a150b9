package oci

import (
	"regexp"
	"strings"
	"sync"
)

// challenge is what a registry demands in WWW-Authenticate (RFC 7235): a password, or a token of a token server.
type challenge struct {
	bearer  bool   // a token; otherwise a password
	realm   string // the address of the token server; "" if it is missing or ambiguous
	service string
	scope   string
}

// parameters matches the next parameter of a challenge.
var parameters = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[ \t,]*([A-Za-z0-9_-]+)[ \t]*=[ \t]*(?:"([^"\\]*)"|([^"\\,\s]+))`)
})

// parseChallenges returns the first challenge that skillpm supports.
func parseChallenges(headers []string) (challenge, bool) {
	for _, header := range headers {
		scheme, rest, _ := strings.Cut(strings.TrimSpace(header), " ")
		switch strings.ToLower(scheme) {
		case "basic":
			return challenge{}, true
		case "bearer":
			return parseBearer(rest), true
		}
	}
	return challenge{}, false
}

// parseBearer parses the parameters of a challenge for a token. A duplicate realm is ambiguous, because others may use
// the other one.
func parseBearer(text string) challenge {
	c := challenge{bearer: true}
	realms := 0
	for {
		found := parameters().FindStringSubmatch(text)
		if found == nil {
			break
		}
		text = text[len(found[0]):]
		value := found[2] + found[3]
		switch strings.ToLower(found[1]) {
		case "realm":
			c.realm = value
			realms++
		case "service":
			c.service = value
		case "scope":
			c.scope = value
		}
	}
	if realms != 1 {
		c.realm = ""
	}
	return c
}
