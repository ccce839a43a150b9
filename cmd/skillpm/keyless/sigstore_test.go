package main

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cyberphone/json-canonicalization/go/src/webpki.org/jsoncanonicalizer"
	"github.com/digitorus/timestamp"
	"github.com/go-openapi/runtime"
	common "github.com/sigstore/protobuf-specs/gen/pb-go/common/v1"
	protorekor "github.com/sigstore/protobuf-specs/gen/pb-go/rekor/v1"
	rekortiles "github.com/sigstore/rekor-tiles/v2/pkg/generated/protobuf"
	rekornote "github.com/sigstore/rekor-tiles/v2/pkg/note"
	"github.com/sigstore/rekor/pkg/generated/models"
	"github.com/sigstore/rekor/pkg/types"
	"github.com/sigstore/sigstore-go/pkg/root"
	"github.com/sigstore/sigstore-go/pkg/testing/ca"
	"github.com/sigstore/sigstore-go/pkg/tlog"
	"github.com/sigstore/sigstore/pkg/signature"
	tileslog "github.com/transparency-dev/formats/log"
	"github.com/transparency-dev/merkle/rfc6962"
	"golang.org/x/mod/sumdb/note"
	"google.golang.org/protobuf/encoding/protojson"
)

// instance is a Sigstore instance on loopback: a certificate authority with the protocol of Fulcio 2, a transparency
// log with the protocols of Rekor 1 and 2, a timestamp authority, and the token service of GitHub Actions. Its certificates
// have the extensions of Fulcio's.
type instance struct {
	t      *testing.T
	server *httptest.Server

	rootCert, issuing *x509.Certificate
	issuingKey        *ecdsa.PrivateKey
	tsaIssuing, tsa   *x509.Certificate
	tsaKey            *ecdsa.PrivateKey
	log               *ca.VirtualSigstore
	tiles             *ecdsa.PrivateKey // of the log with the protocol of Rekor 2
	secret            []byte            // signs tokens

	mu       sync.Mutex
	age      time.Duration // how long ago certificates are issued
	claims   map[string]any
	paths    []string // requests
	rekor    int      // the version of the log in configurations and roots; 0 means 1
	redirect string   // the address that the token service redirects to
	echo     bool     // Fulcio rejects requests and repeats the token

	forge func(*x509.Certificate) (parent *x509.Certificate, key *ecdsa.PrivateKey) // changes a certificate; nil for no change
}

func newInstance(t *testing.T) *instance {
	t.Helper()
	s := &instance{t: t, secret: []byte(rand.Text())}
	var rootKey, tsaIssuingKey *ecdsa.PrivateKey
	var err [7]error
	s.rootCert, rootKey, err[0] = ca.GenerateRootCa()
	s.issuing, s.issuingKey, err[1] = ca.GenerateFulcioIntermediate(s.rootCert, rootKey)
	s.tsaIssuing, tsaIssuingKey, err[2] = ca.GenerateTSAIntermediate(s.rootCert, rootKey)
	s.tsaKey, err[3] = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	s.tsa, err[4] = ca.GenerateTSALeafCert(time.Now().Add(-time.Minute), s.tsaKey, s.tsaIssuing, tsaIssuingKey)
	s.log, err[5] = ca.NewVirtualSigstore()
	s.tiles, err[6] = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	for _, err := range err {
		check(t, err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /token", s.token)
	mux.HandleFunc("POST /fulcio/api/v2/signingCert", s.certify)
	mux.HandleFunc("POST /rekor/api/v1/log/entries", s.record)
	mux.HandleFunc("POST /rekor2/api/v2/log/entries", s.recordTile)
	mux.HandleFunc("POST /tsa", s.stamp)
	s.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.paths = append(s.paths, r.URL.Path)
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(s.server.Close)
	return s
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// count returns how many requests to a path there were.
func (s *instance) count(path string) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.paths {
		if strings.HasPrefix(p, path) {
			n++
		}
	}
	return n
}

// set changes the instance between requests.
func (s *instance) set(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

// trustedRoot returns the trusted_root.json of the instance, with its log, its timestamp authority, or both.
func (s *instance) trustedRoot(log, tsa bool) []byte {
	s.t.Helper()
	start, end := time.Now().Add(-24*time.Hour), time.Now().Add(24*time.Hour)
	authority := &root.FulcioCertificateAuthority{
		Root: s.rootCert, Intermediates: []*x509.Certificate{s.issuing}, ValidityPeriodStart: start,
		ValidityPeriodEnd: end, URI: s.server.URL,
	}
	logs := map[string]*root.TransparencyLog{}
	if log && s.rekor == 2 {
		l := &root.TransparencyLog{
			BaseURL: s.server.URL + "/rekor2", ID: s.tilesID(), ValidityPeriodStart: start, ValidityPeriodEnd: end,
			HashFunc: crypto.SHA256, PublicKey: s.tiles.Public(), SignatureHashFunc: crypto.SHA256,
		}
		logs[hex.EncodeToString(l.ID)] = l
	} else if log {
		for id, l := range s.log.RekorLogs() {
			var err error
			l.ID, err = hex.DecodeString(id) // the library's text is hexadecimal here
			check(s.t, err)
			l.ValidityPeriodStart, l.ValidityPeriodEnd = start, end
			logs[id] = l
		}
	}
	var stamps []root.TimestampingAuthority
	if tsa {
		stamps = append(stamps, &root.SigstoreTimestampingAuthority{
			Root: s.rootCert, Intermediates: []*x509.Certificate{s.tsaIssuing}, Leaf: s.tsa,
			ValidityPeriodStart: start, ValidityPeriodEnd: end, URI: s.server.URL,
		})
	}
	tr, err := root.NewTrustedRoot(root.TrustedRootMediaType01, []root.CertificateAuthority{authority}, nil, stamps, logs)
	check(s.t, err)
	text, err := tr.MarshalJSON()
	check(s.t, err)
	return text
}

// config returns the signing_config.json of the instance.
func (s *instance) config(log, tsa bool) []byte {
	service := func(path string, version int) []any {
		return []any{map[string]any{
			"url": s.server.URL + path, "majorApiVersion": version, "operator": "acme",
			"validFor": map[string]any{"start": "2020-01-01T00:00:00Z"},
		}}
	}
	c := map[string]any{
		"mediaType": root.SigningConfigMediaType02, "caUrls": service("/fulcio", 1),
	}
	if log {
		c["rekorTlogUrls"], c["rekorTlogConfig"] = service("/rekor", 1), map[string]any{"selector": "ANY"}
		if s.rekor == 2 {
			c["rekorTlogUrls"] = service("/rekor2", 2)
		}
	}
	if tsa {
		c["tsaUrls"], c["tsaConfig"] = service("/tsa", 1), map[string]any{"selector": "ANY"}
	}
	text, err := json.Marshal(c)
	check(s.t, err)
	return text
}

// github returns the claims of a job of GitHub Actions.
func github(repository, workflowRef string) map[string]any {
	return map[string]any{
		"iss": actionsIssuer, "sub": "repo:" + repository + ":ref", "aud": "sigstore",
		"exp": time.Now().Add(5 * time.Minute).Unix(), "repository": repository, "job_workflow_ref": workflowRef,
	}
}

// gitlab returns the claims of a job of GitLab CI.
func gitlab(project, configRef string) map[string]any {
	return map[string]any{
		"iss": "https://gitlab.com", "sub": "project_path:" + project, "aud": []string{"other", "sigstore"},
		"exp": time.Now().Add(time.Hour).Unix(), "project_path": project, "ci_config_ref_uri": configRef,
	}
}

// sign returns a JSON Web Token with claims.
func (s *instance) sign(claims map[string]any) string {
	payload, err := json.Marshal(claims)
	check(s.t, err)
	text := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"HS256"}`)) + "." +
		base64.RawURLEncoding.EncodeToString(payload)
	return text + "." + base64.RawURLEncoding.EncodeToString(s.mac(text))
}

func (s *instance) mac(text string) []byte {
	m := hmac.New(sha256.New, s.secret)
	m.Write([]byte(text))
	return m.Sum(nil)
}

const requestToken = "request-token-of-the-job"

// token is the token service of GitHub Actions.
func (s *instance) token(w http.ResponseWriter, r *http.Request) {
	switch {
	case s.redirect != "":
		http.Redirect(w, r, s.redirect, http.StatusFound)
	case r.Header.Get("Authorization") != "Bearer "+requestToken:
		http.Error(w, "unauthorized", http.StatusUnauthorized)
	case r.URL.Query().Get("audience") != "sigstore" || r.URL.Query().Get("api-version") != "2":
		http.Error(w, "wrong query", http.StatusBadRequest)
	default:
		_ = json.NewEncoder(w).Encode(map[string]any{"value": s.sign(s.claims)})
	}
}

// certify issues a certificate for a token and a public key, as Fulcio does.
func (s *instance) certify(w http.ResponseWriter, r *http.Request) {
	token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	if s.echo {
		http.Error(w, "cannot use the token "+token, http.StatusBadRequest)
		return
	}
	parts := strings.Split(token, ".")
	if len(parts) != 3 || base64.RawURLEncoding.EncodeToString(s.mac(parts[0]+"."+parts[1])) != parts[2] {
		http.Error(w, "invalid token", http.StatusUnauthorized)
		return
	}
	var claims struct {
		Issuer      string `json:"iss"`
		Subject     string `json:"sub"`
		Repository  string
		WorkflowRef string `json:"job_workflow_ref"`
		Project     string `json:"project_path"`
		ConfigRef   string `json:"ci_config_ref_uri"`
	}
	payload, _ := base64.RawURLEncoding.DecodeString(parts[1])
	var body struct {
		PublicKeyRequest struct {
			PublicKey         struct{ Algorithm, Content string }
			ProofOfPossession []byte
		}
	}
	if json.Unmarshal(payload, &claims) != nil || json.NewDecoder(r.Body).Decode(&body) != nil {
		http.Error(w, "invalid request", http.StatusBadRequest)
		return
	}
	block, _ := pem.Decode([]byte(body.PublicKeyRequest.PublicKey.Content))
	key, err := x509.ParsePKIXPublicKey(block.Bytes)
	public, ok := key.(*ecdsa.PublicKey)
	sum := sha256.Sum256([]byte(claims.Subject))
	if err != nil || !ok || public.Curve != elliptic.P256() ||
		!ecdsa.VerifyASN1(public, sum[:], body.PublicKeyRequest.ProofOfPossession) {
		http.Error(w, "no proof of possession", http.StatusBadRequest)
		return
	}
	subject, repository := "https://"+claims.ConfigRef, "https://gitlab.com/"+claims.Project
	if claims.Issuer == actionsIssuer {
		subject, repository = "https://github.com/"+claims.WorkflowRef, "https://github.com/"+claims.Repository
	}
	der := s.issue(public, claims.Issuer, subject, repository)
	chain := []string{}
	for _, c := range [][]byte{der, s.issuing.Raw, s.rootCert.Raw} {
		chain = append(chain, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c})))
	}
	_ = json.NewEncoder(w).Encode(map[string]any{
		"signedCertificateEmbeddedSct": map[string]any{"chain": map[string]any{"certificates": chain}},
	})
}

// issue returns a certificate.
func (s *instance) issue(public *ecdsa.PublicKey, issuer, subject, repository string) []byte {
	at, err := url.Parse(subject)
	check(s.t, err)
	extension := func(n int, text string) pkix.Extension {
		value, err := asn1.MarshalWithParams(text, "utf8")
		check(s.t, err)
		return pkix.Extension{Id: asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 57264, 1, n}, Value: value}
	}
	start := time.Now().Add(-s.age - time.Second)
	leaf, parent, key := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), NotBefore: start, NotAfter: start.Add(10 * time.Minute),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageCodeSigning},
		URIs: []*url.URL{at}, ExtraExtensions: []pkix.Extension{extension(8, issuer), extension(12, repository)},
	}, s.issuing, s.issuingKey
	if s.forge != nil {
		if p, k := s.forge(leaf); p != nil {
			parent, key = p, k
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, leaf, parent, public, key)
	check(s.t, err)
	return der
}

// record stores an entry in the transparency log, as Rekor 1 does.
func (s *instance) record(w http.ResponseWriter, r *http.Request) {
	proposed, err := models.UnmarshalProposedEntry(r.Body, runtime.JSONConsumer())
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	entry, err := types.CreateVersionedEntry(proposed)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	body, err := types.CanonicalizeEntry(r.Context(), entry)
	check(s.t, err)
	id, err := s.log.RekorLogID()
	check(s.t, err)
	at, index := time.Now().Unix(), int64(0)
	promise, err := s.log.RekorSignPayload(tlog.RekorPayload{
		Body: base64.StdEncoding.EncodeToString(body), IntegratedTime: at, LogIndex: index, LogID: id,
	})
	check(s.t, err)
	proof, err := s.log.GetInclusionProof(body)
	check(s.t, err)
	uuid := strings.Repeat("0", 16) + hex.EncodeToString(sha256.New().Sum(nil))
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("ETag", uuid)
	w.Header().Set("Location", "/api/v1/log/entries/"+uuid)
	w.WriteHeader(http.StatusCreated)
	check(s.t, json.NewEncoder(w).Encode(map[string]any{uuid: map[string]any{
		"body": base64.StdEncoding.EncodeToString(body), "integratedTime": at, "logID": id, "logIndex": index,
		"verification": map[string]any{"signedEntryTimestamp": promise, "inclusionProof": proof},
	}}))
}

// tilesID returns the id of the log with the protocol of Rekor 2.
func (s *instance) tilesID() []byte {
	der, err := x509.MarshalPKIXPublicKey(s.tiles.Public())
	check(s.t, err)
	id := sha256.Sum256(der)
	return id[:]
}

// recordTile stores an entry in a log of this one entry, as Rekor 2 does.
func (s *instance) recordTile(w http.ResponseWriter, r *http.Request) {
	data, err := io.ReadAll(r.Body)
	check(s.t, err)
	var request rekortiles.CreateEntryRequest
	if err := protojson.Unmarshal(data, &request); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	proposed := request.GetHashedRekordRequestV002()
	text, err := protojson.Marshal(&rekortiles.Entry{
		ApiVersion: "0.0.2", Kind: "hashedrekord",
		Spec: &rekortiles.Spec{Spec: &rekortiles.Spec_HashedRekordV002{HashedRekordV002: &rekortiles.HashedRekordLogEntryV002{
			Data:      &common.HashOutput{Algorithm: common.HashAlgorithm_SHA2_256, Digest: proposed.GetDigest()},
			Signature: proposed.GetSignature(),
		}}},
	})
	check(s.t, err)
	body, err := jsoncanonicalizer.Transform(text)
	check(s.t, err)
	leaf := rfc6962.DefaultHasher.HashLeaf(body)
	u, err := url.Parse(s.server.URL)
	check(s.t, err)
	key, err := signature.LoadECDSASignerVerifier(s.tiles, crypto.SHA256)
	check(s.t, err)
	signer, err := rekornote.NewNoteSigner(r.Context(), u.Hostname(), key)
	check(s.t, err)
	checkpoint := tileslog.Checkpoint{Origin: u.Hostname(), Size: 1, Hash: leaf}
	signed, err := note.Sign(&note.Note{Text: string(checkpoint.Marshal())}, signer)
	check(s.t, err)
	entry, err := protojson.Marshal(&protorekor.TransparencyLogEntry{
		LogId: &common.LogId{KeyId: s.tilesID()}, CanonicalizedBody: body,
		KindVersion: &protorekor.KindVersion{Kind: "hashedrekord", Version: "0.0.2"},
		InclusionProof: &protorekor.InclusionProof{
			TreeSize: 1, RootHash: leaf, Checkpoint: &protorekor.Checkpoint{Envelope: string(signed)},
		},
	})
	check(s.t, err)
	w.WriteHeader(http.StatusCreated)
	_, _ = w.Write(entry)
}

// stamp is the timestamp authority (RFC 3161).
func (s *instance) stamp(w http.ResponseWriter, r *http.Request) {
	data, err := io.ReadAll(r.Body)
	check(s.t, err)
	request, err := timestamp.ParseRequest(data)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	stamp := timestamp.Timestamp{
		HashAlgorithm: request.HashAlgorithm, HashedMessage: request.HashedMessage, Time: time.Now(),
		Policy: asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 57264, 2},
	}
	response, err := stamp.CreateResponseWithOpts(s.tsa, s.tsaKey, crypto.SHA256)
	check(s.t, err)
	w.Header().Set("Content-Type", "application/timestamp-reply")
	w.WriteHeader(http.StatusCreated)
	_, _ = w.Write(response)
}
