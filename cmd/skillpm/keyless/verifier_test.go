package main

import (
	"context"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/olareg/olareg"
	"github.com/olareg/olareg/config"
	v1 "github.com/sigstore/protobuf-specs/gen/pb-go/rekor/v1"
	"github.com/sigstore/sigstore-go/pkg/root"
	"github.com/sigstore/sigstore-go/pkg/testing/ca"
	"github.com/sigstore/sigstore-go/pkg/tlog"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
	"github.com/skillpm/skillpm/pkg/sign"
	"github.com/skillpm/skillpm/pkg/source/oci"
	"github.com/skillpm/skillpm/pkg/source/trust"
)

const (
	issuer  = "https://token.actions.githubusercontent.example"
	subject = "https://github.example/acme/skills/.github/workflows/release.yml@refs/tags/v1.0.0"
)

// rootOf returns the trusted_root.json of a Sigstore instance that a test runs.
func rootOf(t *testing.T, s *ca.VirtualSigstore) []byte {
	t.Helper()
	logs := s.RekorLogs()
	for id, log := range logs {
		var err error
		if log.ID, err = hex.DecodeString(id); err != nil { // the test's Sigstore has its text here
			t.Fatal(err)
		}
		log.ValidityPeriodStart = log.ValidityPeriodStart.AddDate(-1, 0, 0) // so that certificates end before
		log.ValidityPeriodEnd = log.ValidityPeriodEnd.AddDate(1, 0, 0)
	}
	tr, err := root.NewTrustedRoot(root.TrustedRootMediaType01, s.FulcioCertificateAuthorities(), nil, nil, logs)
	if err != nil {
		t.Fatal(err)
	}
	text, err := tr.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// signed returns the bundle of a signature over a digest, logged at a given time.
func signed(t *testing.T, s *ca.VirtualSigstore, who, by, digest string, at time.Time) []byte {
	t.Helper()
	statement, err := sign.Statement("", digest, sign.PredicateSignature, nil)
	if err != nil {
		t.Fatal(err)
	}
	e, err := s.AttestAtTime(who, by, statement, at, true)
	if err != nil {
		t.Fatal(err)
	}
	content, err := e.VerificationContent()
	if err != nil {
		t.Fatal(err)
	}
	signature, err := e.SignatureContent()
	if err != nil {
		t.Fatal(err)
	}
	entries, err := e.TlogEntries()
	if err != nil {
		t.Fatal(err)
	}
	var logged []json.RawMessage
	for _, entry := range entries {
		logged = append(logged, logEntry(t, s, entry.TransparencyLogEntry()))
	}
	text, err := json.Marshal(map[string]any{
		"mediaType": sign.MediaTypeBundle,
		"verificationMaterial": map[string]any{
			"certificate": map[string][]byte{"rawBytes": raw(content.Certificate())}, "tlogEntries": logged,
		},
		"dsseEnvelope": map[string]any{
			"payload": base64.StdEncoding.EncodeToString(statement), "payloadType": "application/vnd.in-toto+json",
			"signatures": []map[string][]byte{{"sig": signature.Signature()}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// logEntry returns a log entry in the form that bundles use, with the log's promise, which the test's Sigstore leaves
// out.
func logEntry(t *testing.T, s *ca.VirtualSigstore, e *v1.TransparencyLogEntry) json.RawMessage {
	t.Helper()
	promise, err := s.RekorSignPayload(tlog.RekorPayload{
		Body: base64.StdEncoding.EncodeToString(e.CanonicalizedBody), IntegratedTime: e.IntegratedTime, LogIndex: e.LogIndex, LogID: hex.EncodeToString(e.LogId.KeyId),
	})
	if err != nil {
		t.Fatal(err)
	}
	e.KindVersion = &v1.KindVersion{Kind: "dsse", Version: "0.0.1"}
	e.InclusionPromise = &v1.InclusionPromise{SignedEntryTimestamp: promise}
	text, err := protojson.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func raw(c *x509.Certificate) []byte { return c.Raw }

func TestVerify(t *testing.T) {
	s, err := ca.NewVirtualSigstore()
	if err != nil {
		t.Fatal(err)
	}
	other, err := ca.NewVirtualSigstore()
	if err != nil {
		t.Fatal(err)
	}
	v, err := open(rootOf(t, s))
	if err != nil {
		t.Fatal(err)
	}
	digest := "sha256:" + strings.Repeat("a1", 32)
	now := time.Now().Add(5 * time.Minute) // the certificates of the test's Sigstore are valid then
	good := signed(t, s, subject, issuer, digest, now)
	want := sign.Identity{Issuer: issuer, Subject: subject}
	for name, wanted := range map[string][]sign.Identity{
		"exactly":        {want},
		"by a pattern":   {{Issuer: issuer, Subject: `^https://github\.example/acme/skills/\.github/workflows/release\.yml@refs/tags/v.*$`}},
		"one of several": {{Issuer: issuer, Subject: "somebody@example.com"}, want},
	} {
		if got, err := v.Verify(good, digest, wanted); err != nil || got != want {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	for name, tt := range map[string]struct {
		bundle []byte
		digest string
		wanted []sign.Identity
		code   diag.Code
		want   string
	}{
		"other subject":    {good, digest, []sign.Identity{{Issuer: issuer, Subject: subject + "x"}}, diag.Denied, "no matching CertificateIdentity"},
		"other issuer":     {good, digest, []sign.Identity{{Issuer: issuer + "x", Subject: subject}}, diag.Denied, "no matching CertificateIdentity"},
		"other pattern":    {good, digest, []sign.Identity{{Issuer: issuer, Subject: "^https://github.example/evil/.*$"}}, diag.Denied, "no matching CertificateIdentity"},
		"nobody":           {good, digest, nil, diag.Denied, "no identity"},
		"half an identity": {good, digest, []sign.Identity{{Issuer: issuer}}, diag.Invalid, "needs an issuer"},
		"other digest":     {good, "sha256:" + strings.Repeat("b2", 32), []sign.Identity{want}, diag.Denied, "digest"},
		"no digest":        {good, "sha256:", []sign.Identity{want}, diag.Invalid, "not a SHA-256"},
		"other Sigstore":   {signed(t, other, subject, issuer, digest, now), digest, []sign.Identity{want}, diag.Denied, "not enough verified log entries"},
		"expired":          {signed(t, s, subject, issuer, digest, now.Add(72*time.Hour)), digest, []sign.Identity{want}, diag.Denied, "outside certificate validity"},
		"too early":        {signed(t, s, subject, issuer, digest, now.Add(-72*time.Hour)), digest, []sign.Identity{want}, diag.Denied, "outside certificate validity"},
		"not logged":       {without(t, good, "tlogEntries"), digest, []sign.Identity{want}, diag.Denied, "not enough verified log entries"},
		"altered":          {altered(t, good), digest, []sign.Identity{want}, diag.Denied, ""},
		"no bundle":        {[]byte("{}"), digest, []sign.Identity{want}, diag.Invalid, "bundle"},
	} {
		if _, err := v.Verify(tt.bundle, tt.digest, tt.wanted); err == nil || diag.CodeOf(err) != tt.code || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want code %v and %q", name, err, tt.code, tt.want)
		}
	}
	if _, err := open([]byte("{}")); diag.CodeOf(err) != diag.Invalid {
		t.Errorf("a root that is none: %v", err)
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
		if err != nil {
			t.Fatal(err)
		}
		envelope["payload"] = base64.StdEncoding.EncodeToString([]byte(strings.Replace(string(payload), `"predicate":{}`, `"predicate":{"a":1}`, 1)))
	})
}

func change(t *testing.T, data []byte, f func(map[string]any)) []byte {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal(data, &m); err != nil {
		t.Fatal(err)
	}
	f(m)
	out, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestKeeper checks the path from a registry to a lockfile, with a server that receives no requests except for its
// content.
func TestKeeper(t *testing.T) {
	sigstore, err := ca.NewVirtualSigstore()
	if err != nil {
		t.Fatal(err)
	}
	registry := olareg.New(config.Config{
		Storage: config.ConfigStorage{StoreType: config.StoreMem}, Log: slog.New(slog.DiscardHandler),
	})
	server := httptest.NewServer(registry)
	t.Cleanup(server.Close)
	c := oci.New(oci.Options{Base: t.TempDir(), Retries: -1, Getenv: func(string) string { return "" }})
	ref, err := pack.Parse("oci://" + strings.TrimPrefix(server.URL, "http://") + "/acme/deploy")
	if err != nil {
		t.Fatal(err)
	}
	tree := bundle.MapTree("deploy", map[string][]byte{"SKILL.md": []byte("---\nname: deploy\ndescription: Deploys.\n---\n")}, nil)
	rel := oci.Release{ID: pack.ID{Owner: "acme", Name: "deploy"}, Version: "1.0.0", Skills: []oci.SkillMeta{{Name: "deploy"}}}
	pushed, err := c.Push(t.Context(), ref, rel, []bundle.Tree{tree}, oci.PushOptions{Attach: func(_ context.Context, p oci.Pushed, _ []byte) ([]oci.Artifact, error) {
		data := signed(t, sigstore, subject, issuer, p.Digest, time.Now().Add(5*time.Minute))
		return []oci.Artifact{{Type: sign.MediaTypeBundle, Blobs: []oci.Blob{{MediaType: sign.MediaTypeBundle, Data: data}}}}, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	ref.Digest = pushed.Digest
	p := &pack.Pack{ID: rel.ID, Version: rel.Version, Ref: ref}
	trees := map[string]string{"deploy": tree.Inventory.Digest()}
	text := rootOf(t, sigstore)
	dir := t.TempDir()
	k := trust.New(trust.Options{OCI: c, Dir: dir, Keyless: open, TrustedRoot: func() ([]byte, error) { return text, nil }})
	want := trust.Wanted{Identities: []trust.Identity{{Issuer: issuer, Subject: subject}}}
	got, err := k.Signers(t.Context(), p, trees, want)
	if err != nil || len(got) != 1 || got[0] != "identity:"+issuer+" "+subject {
		t.Fatalf("signers are %v, %v", got, err)
	}
	offline := trust.New(trust.Options{OCI: c, Dir: dir, Offline: true, Keyless: open, TrustedRoot: func() ([]byte, error) { return text, nil }})
	if _, err := offline.Signers(t.Context(), p, trees, want); err != nil {
		t.Errorf("offline: %v", err)
	}
	_, err = trust.New(trust.Options{OCI: c}).Signers(t.Context(), p, trees, want)
	if diag.CodeOf(err) != diag.Denied || !strings.Contains(diag.HintOf(err), "skillpm-keyless") {
		t.Errorf("the program without it says %v, %s", err, diag.HintOf(err))
	}
	_, err = k.Signers(t.Context(), p, trees, trust.Wanted{Identities: []trust.Identity{{Issuer: issuer, Subject: "somebody@example.com"}}})
	if diag.CodeOf(err) != diag.Denied {
		t.Errorf("another identity: %v", err)
	}
}
