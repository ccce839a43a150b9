package main

import (
	"context"
	"crypto/x509"
	"net"
	"net/url"
	"strings"
	"sync"
	"time"

	prototrustroot "github.com/sigstore/protobuf-specs/gen/pb-go/trustroot/v1"
	rekorv2 "github.com/sigstore/rekor-tiles/v2/pkg/client"
	"github.com/sigstore/rekor-tiles/v2/pkg/client/write"
	rekorv1 "github.com/sigstore/rekor/pkg/client"
	"github.com/sigstore/sigstore-go/pkg/fulcio/certificate"
	"github.com/sigstore/sigstore-go/pkg/root"
	sigstore "github.com/sigstore/sigstore-go/pkg/sign"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/publish"
	"github.com/skillpm/skillpm/pkg/sign"
	"github.com/skillpm/skillpm/pkg/source/trust"
)

// The servers of Sigstore's public instance. https://docs.sigstore.dev
const (
	publicFulcio = "https://fulcio.sigstore.dev"
	publicRekor  = "https://rekor.sigstore.dev"
)

const (
	retries   = 3
	margin    = time.Minute // a certificate that expires earlier is replaced
	maxReason = 400         // bytes of a server's text in an error
)

// signer signs with certificates for the identity of a CI job. One key and certificate serve as long as the certificate
// is valid; the key exists only in memory.
type signer struct {
	options  publish.SignerOptions
	servers  servers
	verifier sign.KeylessVerifier // nil if there is no trusted root

	mu      sync.Mutex
	key     *sigstore.EphemeralKeypair
	der     []byte // the certificate
	expires time.Time
	owner   trust.Identity
}

// servers are the addresses of a Sigstore instance.
type servers struct {
	fulcio string
	logs   []root.Service
	tsas   []root.Service
}

// openSigner implements [publish.OpenSigner]. It sends no request.
func openSigner(o publish.SignerOptions) (sign.Signer, error) {
	s := &signer{options: o, servers: servers{
		fulcio: publicFulcio, logs: []root.Service{{URL: publicRekor, MajorAPIVersion: 1}},
	}}
	var err error
	if o.Config != nil {
		if s.servers, err = parseServers(o.Config, o.Now()); err != nil {
			return nil, diag.Errorf(diag.Invalid, "invalid signing_config.json: %v", err).
				WithHint("create the file with: cosign signing-config create")
		}
	}
	if o.TrustedRoot != nil {
		if s.verifier, err = open(o.TrustedRoot); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// parseServers selects the servers of a signing_config.json (version 0.2) that are valid at a time.
func parseServers(data []byte, now time.Time) (s servers, err error) {
	raw, err := root.NewSigningConfigProtobuf(data)
	if err != nil {
		return s, err
	}
	config, err := root.NewSigningConfigFromProtobuf(raw)
	if err != nil {
		return s, err
	}
	ca, err := root.SelectService(config.FulcioCertificateAuthorityURLs(), sigstore.FulcioAPIVersions, now)
	if err != nil {
		return s, diag.Errorf(diag.Invalid, "caUrls: %v", err)
	}
	s.fulcio = strings.TrimSuffix(ca.URL, "/")
	s.logs, err = selectAll(config.RekorLogURLs(), raw.GetRekorTlogConfig(), sigstore.RekorAPIVersions, now)
	if err != nil {
		return s, diag.Errorf(diag.Invalid, "rekorTlogUrls: %v", err)
	}
	s.tsas, err = selectAll(config.TimestampAuthorityURLs(), raw.GetTsaConfig(),
		sigstore.TimestampAuthorityAPIVersions, now)
	if err != nil {
		return s, diag.Errorf(diag.Invalid, "tsaUrls: %v", err)
	}
	if len(s.logs)+len(s.tsas) == 0 {
		return s, diag.Errorf(diag.Invalid, "neither rekorTlogUrls nor tsaUrls lists a server")
	}
	for _, service := range append(append([]root.Service{ca}, s.logs...), s.tsas...) {
		u, err := url.Parse(service.URL)
		if err != nil || u.Host == "" || u.User != nil ||
			u.Scheme != "https" && (u.Scheme != "http" || !net.ParseIP(u.Hostname()).IsLoopback()) {
			return s, diag.Errorf(diag.Invalid, "%q is not an https address", service.URL)
		}
	}
	return s, nil
}

// selectAll selects servers as the configuration requires, one by default; none if it lists none.
func selectAll(all []root.Service, by *prototrustroot.ServiceConfiguration, versions []uint32, now time.Time) (
	[]root.Service, error,
) {
	if len(all) == 0 {
		return nil, nil
	}
	c := root.ServiceConfiguration{Selector: by.GetSelector(), Count: by.GetCount()}
	if c.Selector == prototrustroot.ServiceSelector_SERVICE_SELECTOR_UNDEFINED {
		c.Selector = prototrustroot.ServiceSelector_ANY
	}
	return root.SelectServices(all, c, versions, now)
}

// ID implements [sign.Signer].
func (s *signer) ID(ctx context.Context) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.renew(ctx); err != nil {
		return "", err
	}
	return s.owner.ID(), nil
}

// Bundle implements [sign.Signer].
func (s *signer) Bundle(ctx context.Context, statement []byte) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	claim, err := sign.ParseStatement(statement)
	if err != nil {
		return nil, err
	}
	if err := s.renew(ctx); err != nil {
		return nil, err
	}
	o := sigstore.BundleOptions{Context: ctx, CertificateProvider: issued(s.der)}
	for _, l := range s.servers.logs {
		log, err := s.log(l)
		if err != nil {
			return nil, diag.Errorf(diag.Invalid, "cannot use the transparency log %s: %v", l.URL, err)
		}
		o.TransparencyLogs = append(o.TransparencyLogs, log)
	}
	for _, t := range s.servers.tsas {
		o.TimestampAuthorities = append(o.TimestampAuthorities, sigstore.NewTimestampAuthority(
			&sigstore.TimestampAuthorityOptions{URL: t.URL, Retries: retries, Transport: s.options.Transport}))
	}
	content := &sigstore.DSSEData{Data: statement, PayloadType: "application/vnd.in-toto+json"}
	b, err := sigstore.Bundle(content, s.key, o)
	if err != nil {
		return nil, remoteError(ctx, "cannot record the signature at "+s.recorders(), err, "")
	}
	data, err := protojson.Marshal(b)
	if err != nil {
		return nil, diag.Errorf(diag.Internal, "%w", err)
	}
	if s.verifier == nil {
		return data, nil
	}
	if _, err := s.verifier.Verify(data, claim.Subjects[0], []sign.Identity{sign.Identity(s.owner)}); err != nil {
		return nil, diag.Errorf(diag.Denied, "the new signature does not verify with trusted_root.json: %v", err).
			WithHint("check that trusted_root.json and signing_config.json belong to the same Sigstore instance")
	}
	return data, nil
}

// log returns the client of a transparency log.
func (s *signer) log(l root.Service) (*sigstore.Rekor, error) {
	o := &sigstore.RekorOptions{BaseURL: l.URL, Version: l.MajorAPIVersion, Retries: retries}
	if s.options.TLS == nil {
		return sigstore.NewRekor(o), nil
	}
	if l.MajorAPIVersion == 1 {
		client, err := rekorv1.GetRekorClient(l.URL, rekorv1.WithTLSConfig(s.options.TLS),
			rekorv1.WithRetryCount(retries))
		if err != nil {
			return nil, err
		}
		o.Client = client.Entries
		return sigstore.NewRekor(o), nil
	}
	client, err := write.NewWriter(l.URL, rekorv2.WithTLSConfig(s.options.TLS))
	o.ClientV2 = client
	return sigstore.NewRekor(o), err
}

// recorders names the servers that record signatures.
func (s *signer) recorders() string {
	var all []string
	for _, l := range append(append([]root.Service{}, s.servers.tsas...), s.servers.logs...) {
		all = append(all, l.URL)
	}
	return strings.Join(all, ", ")
}

// renew requests a certificate for a new key, unless the one that it has is still valid.
func (s *signer) renew(ctx context.Context) error {
	if s.der != nil && s.options.Now().Add(margin).Before(s.expires) {
		return nil
	}
	token, err := s.options.Token(ctx)
	if err != nil {
		return err
	}
	key, err := sigstore.NewEphemeralKeypair(nil) // ECDSA on P-256
	if err != nil {
		return diag.Errorf(diag.Internal, "cannot create a key: %w", err)
	}
	fulcio := sigstore.NewFulcio(&sigstore.FulcioOptions{
		BaseURL: s.servers.fulcio, Retries: retries, Transport: s.options.Transport,
	})
	der, err := fulcio.GetCertificate(ctx, key, &sigstore.CertificateProviderOptions{IDToken: token})
	if err != nil {
		return remoteError(ctx, "cannot get a certificate from "+s.servers.fulcio, err, token)
	}
	c, err := x509.ParseCertificate(der)
	if err != nil {
		return diag.Errorf(diag.Remote, "%s returned an invalid certificate: %v", s.servers.fulcio, err)
	}
	summary, err := certificate.SummarizeCertificate(c)
	if err != nil {
		return diag.Errorf(diag.Remote, "%s returned a certificate without an identity: %v", s.servers.fulcio, err)
	}
	owner, err := ownerOf(summary)
	if err != nil {
		return err
	}
	s.key, s.der, s.expires, s.owner = key, der, c.NotAfter, trust.Identity(owner)
	return nil
}

// remoteError returns the error of a server on one line. It omits the token, because a server may repeat what it
// received.
func remoteError(ctx context.Context, what string, err error, token string) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	text := strings.Join(strings.Fields(err.Error()), " ")
	if token != "" {
		text = strings.ReplaceAll(text, token, "(token)")
	}
	if len(text) > maxReason {
		text = strings.ToValidUTF8(text[:maxReason], "") + "…"
	}
	return diag.Errorf(diag.Remote, "%s: %s", what, text).
		WithHint("check the address and the network, then run the job again")
}

// issued is a certificate that was issued before.
type issued []byte

// GetCertificate implements [sigstore.CertificateProvider].
func (c issued) GetCertificate(context.Context, sigstore.Keypair, *sigstore.CertificateProviderOptions) ([]byte,
	error,
) {
	return c, nil
}
