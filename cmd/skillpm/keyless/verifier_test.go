package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/publish"
	"github.com/skillpm/skillpm/pkg/sign"
)

const (
	actionsIssuer = "https://token.actions.githubusercontent.com"
	workflow      = "acme/skills/.github/workflows/release.yml@refs/tags/"
	subject       = "https://github.com/" + workflow + "v1.0.0"
	repository    = "https://github.com/acme/skills"
)

var digest = "sha256:" + strings.Repeat("a1", 32)

// signer returns a signer for a job.
func (s *instance) signer(claims map[string]any, config, trustedRoot []byte) sign.Signer {
	s.t.Helper()
	signer, err := openSigner(publish.SignerOptions{
		Token:  func(context.Context) (string, error) { return s.sign(claims), nil },
		Config: config, TrustedRoot: trustedRoot, Transport: http.DefaultTransport, Now: time.Now,
	})
	check(s.t, err)
	return signer
}

// bundle returns the signature of a job.
func (s *instance) bundle(claims map[string]any, config []byte) []byte {
	s.t.Helper()
	statement, err := sign.Statement("", digest, sign.PredicateSignature, nil)
	check(s.t, err)
	b, err := s.signer(claims, config, nil).Bundle(s.t.Context(), statement)
	check(s.t, err)
	return b
}

// TestVerify checks which signatures count (O14): with a log, with a timestamp, and with both.
func TestVerify(t *testing.T) {
	s, other := newInstance(t), newInstance(t)
	v, err := open(s.trustedRoot(true, true))
	check(t, err)
	job := github("acme/skills", workflow+"v1.0.0")
	config := s.config(true, true)
	good := s.bundle(job, config)
	want := sign.Identity{Issuer: actionsIssuer, Subject: subject, Repository: repository}
	someRepository := want
	someRepository.Repository = ""
	pattern := want
	pattern.Subject = `^https://github\.com/acme/skills/\.github/workflows/release\.yml@refs/tags/v.*$`
	for name, wanted := range map[string][]sign.Identity{
		"exactly":        {want},
		"any repository": {someRepository},
		"by a pattern":   {pattern},
		"one of several": {{Issuer: actionsIssuer, Subject: "somebody@example.com"}, want},
	} {
		if got, err := v.Verify(good, digest, wanted); err != nil || got != want {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	for name, proofs := range map[string][2]bool{"log": {true, false}, "timestamp": {false, true}} {
		v, err := open(s.trustedRoot(proofs[0], proofs[1]))
		check(t, err)
		b := s.bundle(job, s.config(proofs[0], proofs[1]))
		if _, err := v.Verify(b, digest, []sign.Identity{want}); err != nil {
			t.Errorf("only a %s: %v", name, err)
		}
	}
	s.set(func() { s.age = time.Hour })
	expired := s.bundle(job, config)
	s.set(func() { s.age = -time.Hour })
	early := s.bundle(job, config)
	s.set(func() { s.age = 0 })
	caller := s.bundle(github("evil/skills", workflow+"v1.0.0"), config) // of the reusable workflow
	with := func(change func(*sign.Identity)) []sign.Identity {
		id := want
		change(&id)
		return []sign.Identity{id}
	}
	exact := []sign.Identity{want}
	for name, tt := range map[string]struct {
		bundle []byte
		digest string
		wanted []sign.Identity
		code   diag.Code
		want   string
	}{
		"other subject": {
			good, digest, with(func(id *sign.Identity) { id.Subject += "x" }), diag.Denied,
			"the signature is from " + subject + " (issuer " + actionsIssuer + ", repository " + repository +
				"), not from " + subject + "x (issuer",
		},
		"other issuer":     {good, digest, with(func(id *sign.Identity) { id.Issuer += "x" }), diag.Denied, "not from"},
		"other pattern":    {good, digest, with(func(id *sign.Identity) { id.Subject = "^https://evil/.*$" }), diag.Denied, "not from"},
		"other repository": {good, digest, with(func(id *sign.Identity) { id.Repository += "x" }), diag.Denied, "not from"},
		"caller":           {caller, digest, exact, diag.Denied, "repository https://github.com/evil/skills), not from"},
		"nobody":           {good, digest, nil, diag.Denied, "no trusted identity"},
		"half an identity": {good, digest, []sign.Identity{{Issuer: actionsIssuer}}, diag.Invalid, "requires an issuer"},
		"other digest":     {good, "sha256:" + strings.Repeat("b2", 32), exact, diag.Denied, "digest"},
		"no digest":        {good, "sha256:", exact, diag.Invalid, "invalid SHA-256"},
		"other Sigstore":   {other.bundle(job, other.config(true, true)), digest, exact, diag.Denied, "cannot verify"},
		"expired":          {expired, digest, exact, diag.Denied, "cannot verify"},
		"early":            {early, digest, exact, diag.Denied, "cannot verify"},
		"not logged":       {without(t, good, "tlogEntries"), digest, exact, diag.Denied, "cannot verify"},
		"altered":          {altered(t, good), digest, exact, diag.Denied, "cannot verify"},
		"no bundle":        {[]byte("{}"), digest, exact, diag.Invalid, "invalid signature bundle"},
	} {
		_, err := v.Verify(tt.bundle, tt.digest, tt.wanted)
		if err == nil || diag.CodeOf(err) != tt.code || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want code %v and %q", name, err, tt.code, tt.want)
		}
	}
	if _, err := open([]byte("{}")); diag.CodeOf(err) != diag.Invalid {
		t.Errorf("a root without authorities: %v", err)
	}
}

// TestRekor2 checks that entries of a log with the protocol of Rekor 2 count, only with a timestamp, because the log does
// not state a time, and only for the signature that was logged.
func TestRekor2(t *testing.T) {
	s := newInstance(t)
	s.rekor = 2
	job := github("acme/skills", workflow+"v1.0.0")
	want := []sign.Identity{{Issuer: actionsIssuer, Subject: subject, Repository: repository}}
	v, err := open(s.trustedRoot(true, true))
	check(t, err)
	good, again := s.bundle(job, s.config(true, true)), s.bundle(job, s.config(true, true))
	if _, err := v.Verify(good, digest, want); err != nil || s.count("/rekor2/api/v2/log/entries") != 2 {
		t.Errorf("got %v, and requests of %q", err, s.paths)
	}
	entries := func(from []byte) (list any) {
		change(t, from, func(b map[string]any) { list = b["verificationMaterial"].(map[string]any)["tlogEntries"] })
		return list
	}
	for name, bundle := range map[string][]byte{
		"not logged":   without(t, good, "tlogEntries"),
		"no timestamp": s.bundle(job, s.config(true, false)),
		"another entry": change(t, good, func(b map[string]any) {
			b["verificationMaterial"].(map[string]any)["tlogEntries"] = entries(again)
		}),
	} {
		if _, err := v.Verify(bundle, digest, want); diag.CodeOf(err) != diag.Denied {
			t.Errorf("%s: %v", name, err)
		}
	}
	other := newInstance(t)
	other.rekor = 2
	if v, err = open(other.trustedRoot(true, true)); err != nil {
		t.Fatal(err)
	}
	if _, err := v.Verify(good, digest, want); diag.CodeOf(err) != diag.Denied {
		t.Errorf("another instance: %v", err)
	}
}

// TestSigner checks what a signer sends and keeps: one certificate for several statements, no token in errors, and no
// signature that the trusted root does not verify.
func TestSigner(t *testing.T) {
	s := newInstance(t)
	job := github("acme/skills", workflow+"v1.0.0")
	statement, err := sign.Statement("", digest, sign.PredicateSignature, nil)
	check(t, err)
	signer := s.signer(job, s.config(true, true), s.trustedRoot(true, true))
	if id, err := signer.ID(t.Context()); err != nil || id != "identity:"+actionsIssuer+" "+subject {
		t.Errorf("the signer is %s, %v", id, err)
	}
	for range 2 {
		b, err := signer.Bundle(t.Context(), statement)
		check(t, err)
		e, err := sign.ParseBundle(b)
		if err != nil || !e.Keyless || e.Identity != (sign.Identity{Issuer: actionsIssuer, Subject: subject}) {
			t.Errorf("the bundle is by %v, %v", e, err)
		}
	}
	if n := s.count("/fulcio"); n != 1 {
		t.Errorf("%d certificates for one signer", n)
	}
	s.set(func() { s.age = time.Hour })
	late := s.signer(job, s.config(true, true), s.trustedRoot(true, true))
	if _, err := late.Bundle(t.Context(), statement); diag.CodeOf(err) != diag.Denied ||
		!strings.Contains(err.Error(), "the new signature does not verify with trusted_root.json") {
		t.Errorf("an expired certificate: %v", err)
	}
	s.set(func() { s.echo = true })
	_, err = s.signer(job, s.config(true, true), nil).ID(t.Context())
	if diag.CodeOf(err) != diag.Remote || !strings.Contains(err.Error(), "cannot get a certificate") ||
		!strings.Contains(err.Error(), "(token)") || strings.Contains(err.Error(), ".") && strings.Contains(err.Error(), s.sign(job)) {
		t.Errorf("a server that repeats the token: %v", err)
	}
	for name, config := range map[string]string{
		"no JSON":      "x",
		"no servers":   `{"mediaType": "application/vnd.dev.sigstore.signingconfig.v0.2+json"}`,
		"other format": `{"mediaType": "x"}`,
		"plain HTTP": `{"mediaType": "application/vnd.dev.sigstore.signingconfig.v0.2+json", "caUrls": [
			{"url": "http://fulcio.example", "majorApiVersion": 1, "validFor": {"start": "2020-01-01T00:00:00Z"}}],
			"tsaUrls": [{"url": "https://tsa.example", "majorApiVersion": 1, "validFor": {"start": "2020-01-01T00:00:00Z"}}]}`,
	} {
		if _, err := openSigner(publish.SignerOptions{Config: []byte(config), Now: time.Now}); diag.CodeOf(err) != diag.Invalid {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// without returns a bundle that lacks some of its proofs.
func without(t *testing.T, data []byte, key string) []byte {
	t.Helper()
	return change(t, data, func(m map[string]any) { delete(m["verificationMaterial"].(map[string]any), key) })
}

// altered returns a bundle with an unsigned statement about the same digest.
func altered(t *testing.T, data []byte) []byte {
	t.Helper()
	return change(t, data, func(m map[string]any) {
		envelope := m["dsseEnvelope"].(map[string]any)
		payload, err := base64.StdEncoding.DecodeString(envelope["payload"].(string))
		check(t, err)
		next := strings.Replace(string(payload), `"predicate":{}`, `"predicate":{"a":1}`, 1)
		if next == string(payload) {
			t.Fatal("nothing was altered")
		}
		envelope["payload"] = base64.StdEncoding.EncodeToString([]byte(next))
	})
}

func change(t *testing.T, data []byte, f func(map[string]any)) []byte {
	t.Helper()
	var m map[string]any
	check(t, json.Unmarshal(data, &m))
	f(m)
	out, err := json.Marshal(m)
	check(t, err)
	return out
}
