package selfupdate

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"

	"github.com/Masterminds/semver/v3"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/httpx"
	"github.com/skillpm/skillpm/pkg/sign"
)

const (
	retries      = 3
	maxChecksums = 1 << 20   // bytes
	maxSignature = 64 << 10  // bytes
	maxArchive   = 256 << 20 // bytes
	maxBinary    = 512 << 20 // bytes

	// Namespace is the namespace of the SSH signatures of releases, so that no other signature of the key counts.
	Namespace     = "skillpm-release"
	checksumsFile = "checksums.txt"
	signatureFile = checksumsFile + ".sig"
)

// CheckMirror checks the address of a mirror. Only this machine may serve releases over plain HTTP.
func CheckMirror(mirror string) error {
	u, err := url.Parse(mirror)
	if err == nil && u.User != nil { // it would be printed, and sent wherever the mirror redirects
		return diag.Errorf(diag.Usage, "the URL of the mirror contains a user name or password").
			WithHint("use a mirror that does not need a login")
	}
	if err != nil || u.Host == "" || u.RawQuery != "" || u.Fragment != "" ||
		u.Scheme != "https" && (u.Scheme != "http" || !httpx.IsLoopback(u.Hostname())) {
		return diag.Errorf(diag.Usage, "the mirror %q is not an https:// address without a query or fragment", mirror).
			WithHint("use a URL such as https://mirror.example/skillpm")
	}
	return nil
}

// Latest returns the newest release of the mirror.
func (u *Updater) Latest(ctx context.Context) (string, error) {
	client := *u.Client
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	address := strings.TrimSuffix(u.Mirror, "/") + "/latest"
	resp, err := u.request(ctx, &client, http.MethodHead, address)
	if err != nil {
		return "", err
	}
	_ = resp.Body.Close()
	to, err := resp.Location()
	if err != nil {
		return "", diag.Errorf(diag.Remote, "cannot find the newest release: %s responded with %s instead of a redirect",
			address, resp.Status).WithHint("name a release: skillpm self-update VERSION")
	}
	version := strings.TrimPrefix(path.Base(to.Path), "v")
	if _, err := semver.StrictNewVersion(version); err != nil {
		return "", diag.Errorf(diag.Remote,
			"cannot find the newest release: %s redirects to %q, which is not a release", address, httpx.Clean(version)).
			WithHint("name a release: skillpm self-update VERSION")
	}
	return version, nil
}

// download returns the verified archive of a release.
func (u *Updater) download(ctx context.Context, version string, keys *sign.AllowedSigners) ([]byte, error) {
	checksums, err := u.file(ctx, version, checksumsFile, maxChecksums)
	if err != nil {
		return nil, err
	}
	signature, err := u.file(ctx, version, signatureFile, maxSignature)
	if errors.As(err, new(*missingError)) {
		return nil, diag.Errorf(diag.Integrity, "release %s is not signed: %w", version, err).
			WithHint("report the problem at " + securityPage + "; skillpm did not replace the program")
	} else if err != nil {
		return nil, err
	}
	if _, err := keys.Verify(checksums, signature, Namespace, time.Time{}); err != nil {
		return nil, diag.Errorf(diag.Integrity, "cannot verify the checksums of release %s: %w", version, err).
			WithHint("report the problem at " + securityPage + "; skillpm did not replace the program")
	}
	name := u.archive(version)
	want, err := checksumOf(checksums, name)
	if err != nil {
		return nil, err
	}
	archive, err := u.file(ctx, version, name, maxArchive)
	if err != nil {
		return nil, err
	}
	if sum := sha256.Sum256(archive); hex.EncodeToString(sum[:]) != want {
		return nil, diag.Errorf(diag.Integrity, "cannot verify %s: the digest differs from the signed checksum", name).
			WithHint("try again, and check the mirror if the error persists; skillpm did not replace the program")
	}
	return archive, nil
}

const securityPage = "https://github.com/skillpm/skillpm/security"

// parseKeys returns the release keys as signers of releases.
func parseKeys(keys string) (*sign.AllowedSigners, error) {
	var lines strings.Builder
	for key := range strings.SplitSeq(keys, ",") {
		fmt.Fprintf(&lines, "release namespaces=%q %s\n", Namespace, strings.TrimSpace(key))
	}
	signers, err := sign.ParseAllowedSigners("the release keys of this build", []byte(lines.String()))
	if err != nil {
		return nil, diag.Errorf(diag.Internal, "%w", err)
	}
	return signers, nil
}

// checksumOf returns the checksum of a file, which exactly one line must name.
func checksumOf(checksums []byte, name string) (string, error) {
	found := ""
	for line := range strings.Lines(string(checksums)) {
		sum, file, _ := strings.Cut(strings.TrimSpace(line), " ")
		if strings.TrimPrefix(strings.TrimSpace(file), "*") != name {
			continue
		}
		if raw, err := hex.DecodeString(sum); err != nil || len(raw) != sha256.Size || found != "" {
			return "", diag.Errorf(diag.Integrity, "%s of the release has an invalid or duplicate line for %s",
				checksumsFile, name).WithHint("report the problem at " + securityPage)
		}
		found = strings.ToLower(sum)
	}
	if found == "" {
		return "", diag.Errorf(diag.NotFound, "the release does not contain %s", name).
			WithHint("see the files of the release at %s", Releases)
	}
	return found, nil
}

// file downloads a file of a release.
func (u *Updater) file(ctx context.Context, version, name string, limit int64) ([]byte, error) {
	address := fmt.Sprintf("%s/download/v%s/%s", strings.TrimSuffix(u.Mirror, "/"), version, name)
	data, err := httpx.ReadWhole(ctx, hostOf(address), retries, limit, func() (io.ReadCloser, error) {
		resp, err := u.request(ctx, u.Client, http.MethodGet, address)
		if err != nil {
			return nil, err
		}
		switch resp.StatusCode {
		case http.StatusOK:
			return resp.Body, nil
		case http.StatusNotFound:
			err = &missingError{address}
		default:
			err = diag.Errorf(diag.Remote, "cannot download %s: the server responded with %s", address, resp.Status)
		}
		_ = resp.Body.Close()
		return nil, err
	})
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil && diag.CodeOf(err) == diag.Internal: // the connection broke
		return nil, diag.Errorf(diag.Remote, "cannot download %s: %s", address, httpx.Cause(err)).
			WithHint("check the network, then try again")
	case err != nil:
		return nil, err
	case int64(len(data)) > limit:
		return nil, diag.Errorf(diag.Invalid, "cannot download %s: the file is larger than %d bytes", address, limit)
	}
	return data, nil
}

// request sends a request.
func (u *Updater) request(ctx context.Context, client *http.Client, method, address string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, address, nil)
	if err != nil {
		return nil, diag.Errorf(diag.Usage, "cannot use the mirror: %w", err)
	}
	req.Header.Set("User-Agent", "skillpm/"+u.Version)
	resp, err := client.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if denied, ok := errors.AsType[*diag.Error](err); ok { // of the redirect policy
			return nil, denied
		}
		return nil, diag.Errorf(diag.Remote, "cannot reach %s: %s", req.URL.Host, httpx.Cause(err)).
			WithHint("check the network, then try again, or use another server with --mirror")
	}
	return resp, nil
}

// missingError reports that a release does not have a file.
type missingError struct{ address string }

func (e *missingError) Error() string { return e.address + " does not exist" }

// Code returns [diag.NotFound].
func (e *missingError) Code() diag.Code { return diag.NotFound }

// Hint suggests what to do.
func (e *missingError) Hint() string { return "see the list of releases at " + Releases }

// hostOf returns the server that an address names, for progress and messages.
func hostOf(address string) string {
	if u, err := url.Parse(address); err == nil {
		return u.Host
	}
	return address
}
