package main

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/big"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sigstore/sigstore-go/pkg/bundle"
	"github.com/sigstore/sigstore-go/pkg/testing/ca"
	"google.golang.org/protobuf/proto"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/sign"
)

// accepted checks a bundle as the installer does: it must be a signature, by the job, of the digest.
func accepted(v sign.KeylessVerifier, data []byte, wanted ...sign.Identity) error {
	e, err := sign.ParseBundle(data)
	switch {
	case err != nil:
		return err
	case !e.Keyless || e.Claim.PredicateType != sign.PredicateSignature:
		return diag.Errorf(diag.Denied, "not a keyless signature")
	}
	_, err = v.Verify(data, digest, wanted)
	return err
}

// mutation is a JSON document after one change.
type mutation struct {
	what string
	data []byte
}

// mutations returns a JSON document after each change of one value: without it, with another value, with another type,
// twice, and under another name. Base64 is changed by its bits, bytes, and spelling, and the JSON in it as this document.
func mutations(t *testing.T, data []byte) (all []mutation) {
	t.Helper()
	var root any
	check(t, json.Unmarshal(data, &root))
	const marker = "\x00here"
	emit := func(what string, raw string) { // the marked value becomes raw JSON
		text, err := json.Marshal(root)
		check(t, err)
		mark, err := json.Marshal(marker)
		check(t, err)
		all = append(all, mutation{what, bytes.Replace(text, mark, []byte(raw), 1)})
	}
	quote := func(s string) string {
		b, err := json.Marshal(s)
		check(t, err)
		return string(b)
	}
	var walk func(path string, value any, set func(any))
	walk = func(path string, value any, set func(any)) {
		was, err := json.Marshal(value)
		check(t, err)
		set(marker)
		for _, raw := range []string{"null", "{}", "[]", `""`, "0", "true", "[" + string(was) + "]", `{"a":` + string(was) + "}"} {
			if raw != string(was) {
				emit(path+" = "+raw, raw)
			}
		}
		if text, ok := value.(string); ok {
			for _, next := range texts(text) {
				emit(path+" = "+next, quote(next))
			}
			if inner, err := base64.StdEncoding.DecodeString(text); err == nil && json.Valid(inner) && inner[0] == '{' {
				for _, m := range mutations(t, inner) {
					emit(path+": "+m.what, quote(base64.StdEncoding.EncodeToString(m.data)))
				}
			}
		}
		set(value)
		switch v := value.(type) {
		case map[string]any:
			for _, key := range slices.Sorted(func(yield func(string) bool) {
				for k := range v {
					if !yield(k) {
						return
					}
				}
			}) {
				child := v[key]
				raw, err := json.Marshal(child)
				check(t, err)
				v[key] = marker
				emit(path+"."+key+" twice", string(raw)+","+quote(key)+":"+string(raw))
				emit(path+"."+key+" twice, the second null", string(raw)+","+quote(key)+":null")
				emit(path+"."+key+" twice, in the other spelling", string(raw)+","+quote(snake(key))+":"+string(raw))
				delete(v, key)
				for _, name := range []string{"", strings.ToUpper(key), key + " ", key + "\x00", snake(key)} {
					if name == key {
						continue
					}
					if name != "" {
						v[name] = child
					}
					text, err := json.Marshal(root)
					check(t, err)
					all = append(all, mutation{path + "." + key + " as " + strconv.Quote(name), text})
					delete(v, name)
				}
				v[key] = child
				walk(path+"."+key, child, func(next any) { v[key] = next })
			}
		case []any:
			set(append(slices.Clone(v), v...))
			text, err := json.Marshal(root)
			check(t, err)
			all = append(all, mutation{path + " twice", text})
			set(value)
			for i, child := range v {
				walk(path+"["+strconv.Itoa(i)+"]", child, func(next any) { v[i] = next })
			}
		}
	}
	walk("", root, func(next any) { root = next })
	return all
}

// snake returns the name that protocol buffers have for a key of their JSON.
func snake(key string) (out string) {
	for _, r := range key {
		if 'A' <= r && r <= 'Z' {
			out += "_"
		}
		out += strings.ToLower(string(r))
	}
	if out == key {
		return key + "_"
	}
	return out
}

// texts returns changed texts.
func texts(s string) []string {
	next := []string{s + "x", s + "\n", s + "\x00", " " + s, strings.ToUpper(s), strings.ToLower(s), s[:len(s)/2]}
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		for _, n := range []int64{0, -1, n + 1, n - 1, n + 3600, n - 3600, 1 << 62, -1 << 62} {
			next = append(next, strconv.FormatInt(n, 10))
		}
	}
	if b, err := base64.StdEncoding.DecodeString(s); err == nil && len(b) > 8 {
		for _, at := range []int{0, 1, 2, 3, len(b) / 4, len(b) / 3, len(b) / 2, len(b) * 2 / 3, len(b) - 2, len(b) - 1} {
			changed := slices.Clone(b)
			changed[at] ^= 1
			next = append(next, base64.StdEncoding.EncodeToString(changed))
		}
		for _, changed := range [][]byte{b[1:], b[:len(b)-1], append(slices.Clone(b), 0), append([]byte{0}, b...), append(slices.Clone(b), b...)} {
			next = append(next, base64.StdEncoding.EncodeToString(changed))
		}
		next = append(next, base64.URLEncoding.EncodeToString(b), base64.RawStdEncoding.EncodeToString(b), s[:4]+" "+s[4:], s[:4]+"\u200b"+s[4:])
	}
	next = slices.DeleteFunc(next, func(n string) bool { return n == s })
	slices.Sort(next)
	return slices.Compact(next)
}

// same reports whether two bundles mean the same: names in the spelling of protocol buffers and other spellings of base64
// are read, and nothing depends on the kind of a log's entry, on the copy of an entry of Rekor 2, which is made again from
// the signature, and on a second copy of a timestamp.
func same(a, b []byte, rekor int) bool {
	var parsed [2]bundle.Bundle
	for i, data := range [][]byte{a, b} {
		if parsed[i].UnmarshalJSON(data) != nil {
			return false
		}
		m := parsed[i].GetVerificationMaterial()
		for _, e := range m.GetTlogEntries() {
			e.KindVersion = nil
			if rekor == 2 {
				e.CanonicalizedBody = nil
				if p := e.GetInclusionProof(); p != nil { // the signed checkpoint has both
					p.RootHash, p.TreeSize = nil, 0
				}
			}
		}
		if d := m.GetTimestampVerificationData(); len(d.GetRfc3161Timestamps()) > 0 {
			d.Rfc3161Timestamps = d.GetRfc3161Timestamps()[:1]
		}
	}
	return proto.Equal(parsed[0].Bundle, parsed[1].Bundle)
}

// TestMutations changes each value of valid bundles, one at a time, and checks that none counts that means anything else
// (O14): with a log, with a timestamp, and with a log that needs one.
func TestMutations(t *testing.T) {
	total := 0
	for name, tt := range map[string]struct {
		rekor    int
		log, tsa bool
	}{"Rekor 1": {1, true, false}, "timestamp": {1, false, true}, "Rekor 2": {2, true, true}} {
		s := newInstance(t)
		s.rekor = tt.rekor
		v, err := open(s.trustedRoot(tt.log, tt.tsa))
		check(t, err)
		good := s.bundle(github("acme/skills", workflow+"v1.0.0"), s.config(tt.log, tt.tsa))
		want := sign.Identity{Issuer: actionsIssuer, Subject: subject, Repository: repository}
		check(t, accepted(v, good, want))
		for _, m := range mutations(t, good) {
			total++
			if accepted(v, m.data, want) == nil && !same(good, m.data, tt.rekor) {
				t.Errorf("%s: accepted with %.200q", name, m.what)
			}
		}
	}
	if total < 2500 {
		t.Errorf("only %d mutations", total)
	}
}

// TestCertificates checks that certificates of the trusted authority count only for the identity that they state (O14):
// exactly, once, for signing, and while they are valid.
func TestCertificates(t *testing.T) {
	s := newInstance(t)
	v, err := open(s.trustedRoot(true, true))
	check(t, err)
	config := s.config(true, true)
	want := sign.Identity{Issuer: actionsIssuer, Subject: subject}
	uri := func(text string) *url.URL {
		u, err := url.Parse(text)
		check(t, err)
		return u
	}
	extension := func(n int, value []byte) pkix.Extension {
		return pkix.Extension{Id: asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 57264, 1, n}, Value: value}
	}
	utf8 := func(text string) []byte {
		value, err := asn1.MarshalWithParams(text, "utf8")
		check(t, err)
		return value
	}
	names := func(raw ...asn1.RawValue) func(*x509.Certificate) {
		return func(c *x509.Certificate) {
			value, err := asn1.Marshal(raw)
			check(t, err)
			c.URIs = nil
			c.ExtraExtensions = append(c.ExtraExtensions, pkix.Extension{Id: asn1.ObjectIdentifier{2, 5, 29, 17}, Value: value})
		}
	}
	name := func(tag int, text string) asn1.RawValue {
		return asn1.RawValue{Class: asn1.ClassContextSpecific, Tag: tag, Bytes: []byte(text)}
	}
	issuer := func(text string) func(*x509.Certificate) {
		return func(c *x509.Certificate) { c.ExtraExtensions[0] = extension(8, utf8(text)) }
	}
	otherRoot, otherKey, err := ca.GenerateRootCa()
	check(t, err)
	otherIssuing, otherIssuingKey, err := ca.GenerateFulcioIntermediate(otherRoot, otherKey)
	check(t, err)
	leafKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	check(t, err)
	chain := func(change func(*x509.Certificate)) (*x509.Certificate, *ecdsa.PrivateKey) { // a certificate below the trusted authority
		c := &x509.Certificate{
			SerialNumber: big.NewInt(7), Subject: pkix.Name{CommonName: "x"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
			KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageCodeSigning},
		}
		change(c)
		der, err := x509.CreateCertificate(rand.Reader, c, s.issuing, leafKey.Public(), s.issuingKey)
		check(t, err)
		parsed, err := x509.ParseCertificate(der)
		check(t, err)
		return parsed, leafKey
	}
	changes := map[string]func(*x509.Certificate){
		"two subjects, the second right": func(c *x509.Certificate) { c.URIs = append([]*url.URL{uri("https://evil/x")}, c.URIs...) },
		"two subjects, the first right":  func(c *x509.Certificate) { c.URIs = append(c.URIs, uri("https://evil/x")) },
		"subject twice":                  func(c *x509.Certificate) { c.URIs = append(c.URIs, c.URIs...) },
		"address besides":                func(c *x509.Certificate) { c.EmailAddresses = []string{"evil@example.com"} },
		"host besides":                   func(c *x509.Certificate) { c.DNSNames = []string{"github.com"} },
		"IP address besides":             func(c *x509.Certificate) { c.IPAddresses = []net.IP{net.IPv4(1, 1, 1, 1)} },
		"no subject":                     func(c *x509.Certificate) { c.URIs = nil },
		"common name":                    func(c *x509.Certificate) { c.URIs, c.Subject.CommonName = nil, subject },
		"host":                           func(c *x509.Certificate) { c.URIs, c.DNSNames = nil, []string{"github.com"} },
		"address":                        names(name(1, subject)),
		"host of the text":               names(name(2, subject)),
		"subject and line break":         names(name(6, subject+"\n")),
		"subject and NUL":                names(name(6, subject+"\x00")),
		"subject and NUL and more":       names(name(6, subject+"\x00.evil")),
		"line break and subject":         names(name(6, "\n"+subject)),
		"text before":                    names(name(6, "https://evil/?"+subject)),
		"text after":                     names(name(6, subject+"-evil")),
		"query":                          names(name(6, subject+"?x")),
		"fragment":                       names(name(6, subject+"#x")),
		"capitals":                       names(name(6, strings.ToUpper(subject))),
		"host in capitals":               names(name(6, strings.Replace(subject, "github.com", "GitHub.com", 1))),
		"percent":                        names(name(6, strings.Replace(subject, "release", "%72elease", 1))),
		"dot segment":                    names(name(6, strings.Replace(subject, "/acme/", "/./acme/", 1))),
		"user":                           names(name(6, strings.Replace(subject, "github.com", "github.com@evil.example", 1))),
		"port":                           names(name(6, strings.Replace(subject, "github.com", "github.com:443", 1))),
		"homograph":                      names(name(6, strings.Replace(subject, "acme", "аcme", 1))),
		"two raw subjects":               names(name(6, subject), name(6, "https://evil/x")),
		"pull request":                   names(name(6, strings.Replace(subject, "refs/tags/v1.0.0", "refs/pull/1/merge", 1))),
		"other issuer":                   issuer("https://token.actions.githubusercontent.com.evil.example"),
		"issuer with slash":              issuer(actionsIssuer + "/"),
		"issuer and line break":          issuer(actionsIssuer + "\n"),
		"issuer and NUL":                 issuer(actionsIssuer + "\x00"),
		"issuer in capitals":             issuer(strings.ToUpper(actionsIssuer)),
		"issuer over HTTP":               issuer(strings.Replace(actionsIssuer, "https:", "http:", 1)),
		"empty issuer":                   issuer(""),
		"no issuer":                      func(c *x509.Certificate) { c.ExtraExtensions = c.ExtraExtensions[1:] },
		"issuer without DER":             func(c *x509.Certificate) { c.ExtraExtensions[0] = extension(8, []byte(actionsIssuer)) },
		"issuer and more": func(c *x509.Certificate) {
			c.ExtraExtensions[0] = extension(8, append(utf8(actionsIssuer), 0))
		},
		"older issuer first": func(c *x509.Certificate) {
			c.ExtraExtensions = append([]pkix.Extension{extension(1, []byte("https://evil.example"))}, c.ExtraExtensions...)
		},
		"older issuer last": func(c *x509.Certificate) {
			c.ExtraExtensions[0] = extension(8, utf8("https://evil.example"))
			c.ExtraExtensions = append(c.ExtraExtensions, extension(1, []byte(actionsIssuer)))
		},
		"critical extension": func(c *x509.Certificate) {
			c.ExtraExtensions = append(c.ExtraExtensions, pkix.Extension{Id: asn1.ObjectIdentifier{1, 2, 3, 4}, Critical: true, Value: []byte{5, 0}})
		},
		"for servers": func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth} },
		"for clients": func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth} },
		"for time stamps": func(c *x509.Certificate) {
			c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageTimeStamping}
		},
		"expired": func(c *x509.Certificate) {
			c.NotBefore, c.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(-time.Minute)
		},
		"not yet valid": func(c *x509.Certificate) {
			c.NotBefore, c.NotAfter = time.Now().Add(time.Minute), time.Now().Add(time.Hour)
		},
		"never valid": func(c *x509.Certificate) {
			c.NotBefore, c.NotAfter = time.Now().Add(time.Hour), time.Now().Add(-time.Hour)
		},
	}
	parents := map[string]func() (*x509.Certificate, *ecdsa.PrivateKey){
		"another authority": func() (*x509.Certificate, *ecdsa.PrivateKey) { return otherIssuing, otherIssuingKey },
		"another root":      func() (*x509.Certificate, *ecdsa.PrivateKey) { return otherRoot, otherKey },
		"the authority's name with another key": func() (*x509.Certificate, *ecdsa.PrivateKey) {
			named := *otherIssuing
			named.RawSubject, named.SubjectKeyId = s.issuing.RawSubject, s.issuing.SubjectKeyId
			return &named, otherIssuingKey
		},
		"the certificate of a job": func() (*x509.Certificate, *ecdsa.PrivateKey) { return chain(func(*x509.Certificate) {}) },
		"an authority that is not in the root": func() (*x509.Certificate, *ecdsa.PrivateKey) {
			return chain(func(c *x509.Certificate) {
				c.IsCA, c.BasicConstraintsValid, c.KeyUsage = true, true, x509.KeyUsageCertSign
			})
		},
		"the timestamp authority": func() (*x509.Certificate, *ecdsa.PrivateKey) { return s.tsa, s.tsaKey },
	}
	job := github("acme/skills", workflow+"v1.0.0")
	pattern := want
	pattern.Subject = `^https://github\.com/acme/skills/\.github/workflows/release\.yml@refs/(heads|tags)/[!-~]+$`
	try := func(forge func(*x509.Certificate) (*x509.Certificate, *ecdsa.PrivateKey)) (exact, loose error) {
		s.set(func() { s.forge = forge })
		defer s.set(func() { s.forge = nil })
		statement, err := sign.Statement("", digest, sign.PredicateSignature, nil)
		check(t, err)
		b, err := s.signer(job, config, nil).Bundle(t.Context(), statement)
		if err != nil {
			return err, err
		}
		return accepted(v, b, want), accepted(v, b, pattern)
	}
	if exact, loose := try(nil); exact != nil || loose != nil {
		t.Fatal(exact, loose)
	}
	tried, otherTag := 0, map[string]bool{"text after": true, "query": true, "fragment": true}
	refused := func(name string, forge func(*x509.Certificate) (*x509.Certificate, *ecdsa.PrivateKey)) {
		exact, loose := try(forge)
		tried++
		if exact == nil || loose == nil && !otherTag[name] {
			t.Errorf("%s: accepted: %v, by a pattern: %v", name, exact == nil, loose == nil)
		}
	}
	for name, change := range changes {
		refused(name, func(c *x509.Certificate) (*x509.Certificate, *ecdsa.PrivateKey) { change(c); return nil, nil })
	}
	for name, parent := range parents {
		refused("issued by "+name, func(*x509.Certificate) (*x509.Certificate, *ecdsa.PrivateKey) { return parent() })
	}
	if tried < 50 {
		t.Errorf("only %d certificates", tried)
	}
}

// TestRoots checks that each part of a trusted root is used (O14): a signature whose authority, log, or timestamp is of
// another instance does not count, and neither does one outside of their periods or without the proof that they require.
func TestRoots(t *testing.T) {
	s, other := newInstance(t), newInstance(t)
	want := sign.Identity{Issuer: actionsIssuer, Subject: subject, Repository: repository}
	good := s.bundle(github("acme/skills", workflow+"v1.0.0"), s.config(true, true))
	var own, foreign map[string]any
	check(t, json.Unmarshal(s.trustedRoot(true, true), &own))
	check(t, json.Unmarshal(other.trustedRoot(true, true), &foreign))
	tried := 0
	refused := func(name string, change func(root map[string]any)) {
		t.Helper()
		tried++
		root := map[string]any{}
		text, err := json.Marshal(own)
		check(t, err)
		check(t, json.Unmarshal(text, &root))
		change(root)
		if strings.HasPrefix(name, "timestampAuthorities") {
			delete(root, "tlogs") // which states the time too
		}
		text, err = json.Marshal(root)
		check(t, err)
		v, err := open(text)
		if err != nil {
			return
		}
		if accepted(v, good, want) == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	first := func(root map[string]any, key string) map[string]any { return root[key].([]any)[0].(map[string]any) }
	for _, key := range []string{"certificateAuthorities", "tlogs", "timestampAuthorities"} {
		refused(key+" of another instance", func(root map[string]any) { root[key] = foreign[key] })
		for i, period := range []map[string]any{
			{"start": "2001-01-01T00:00:00Z", "end": "2002-01-01T00:00:00Z"},
			{"start": "2101-01-01T00:00:00Z"},
		} {
			refused(fmt.Sprint(key, " in period ", i), func(root map[string]any) {
				at := first(root, key)
				if key == "tlogs" {
					at = at["publicKey"].(map[string]any)
				}
				at["validFor"] = period
			})
		}
	}
	refused("the log has another key", func(root map[string]any) {
		first(root, "tlogs")["publicKey"].(map[string]any)["rawBytes"] = first(foreign, "tlogs")["publicKey"].(map[string]any)["rawBytes"]
	})
	refused("no authority", func(root map[string]any) { delete(root, "certificateAuthorities") })
	refused("nobody states a time", func(root map[string]any) { delete(root, "tlogs"); delete(root, "timestampAuthorities") })
	refused("certificates must be logged", func(root map[string]any) { root["ctlogs"] = root["tlogs"] })
	if tried != 13 {
		t.Errorf("%d roots", tried)
	}
}
