package oci

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/errdef"
	"oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/errcode"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/httpx"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
)

// repository is a repository in a registry.
type repository struct {
	repo   *remote.Repository
	client *Client
	host   string // as in the user's configuration
	name   string // host/repository

	tries     int      // how often a download may resume
	mountFrom []string // repositories of the same registry that may hold the blobs to push
}

func (c *Client) openRemote(ctx context.Context, ociURL string) (*repository, error) {
	name := strings.TrimPrefix(ociURL, "oci://")
	repo, err := remote.NewRepository(name)
	if err != nil {
		return nil, diag.Errorf(diag.Usage, "invalid OCI repository %q", name).WithHint("use oci://REGISTRY/REPOSITORY")
	}
	host := repo.Reference.Registry
	if repo.PlainHTTP, err = c.plainHTTP(ctx, repo.Reference.Host()); err != nil {
		return nil, err
	}
	repo.Client = c.auth
	repo.MaxMetadataBytes = maxManifest
	repo.ManifestMediaTypes = []string{ocispec.MediaTypeImageManifest, ocispec.MediaTypeImageIndex}
	return &repository{repo: repo, client: c, host: host, name: name, tries: c.opts.retries()}, nil
}

// Limits for the tags of a repository.
const (
	maxTagPages = 1_000
	maxTags     = 200_000
	maxTag      = 128 // bytes of a tag (distribution specification 1.1)
)

func (r *repository) tags(ctx context.Context) ([]string, error) {
	ctx = auth.AppendRepositoryScope(ctx, r.repo.Reference, auth.ActionPull)
	next := r.url("tags/list")
	var tags []string
	for page := 0; next != nil; page++ {
		if page == maxTagPages || len(tags) > maxTags {
			return nil, diag.Errorf(diag.Remote, "%s lists more than %d pages or %d tags", r.name, maxTagPages, maxTags)
		}
		more, following, err := r.tagPage(ctx, next)
		if err != nil {
			return nil, err
		}
		more = slices.DeleteFunc(more, func(tag string) bool { return len(tag) > maxTag })
		tags, next = append(tags, more...), following
	}
	if len(tags) == 0 { // some registries send this for a missing repository
		return nil, diag.Errorf(diag.NotFound, "%s does not have tags", r.name)
	}
	return tags, nil
}

func (r *repository) tagPage(ctx context.Context, pageURL *url.URL) ([]string, *url.URL, error) {
	head, data, err := r.get(ctx, pageURL, "application/json")
	if errors.Is(err, errdef.ErrNotFound) {
		return nil, nil, diag.Errorf(diag.NotFound, "repository %s does not exist", r.name)
	}
	if err != nil {
		return nil, nil, r.client.remoteError(r.host, err)
	}
	var page struct {
		Tags []string `json:"tags"`
	}
	if len(data) > maxManifest || json.Unmarshal(data, &page) != nil {
		return nil, nil, diag.Errorf(diag.Remote, "%s: the list of tags is not JSON or is larger than %d bytes", r.name,
			maxManifest)
	}
	next, err := nextPage(head.Get("Link"), pageURL)
	return page.Tags, next, err
}

// manifestTypes are the accepted media types of manifests.
const manifestTypes = ocispec.MediaTypeImageManifest + ", " + ocispec.MediaTypeImageIndex

// get reads the headers and at most maxManifest+1 bytes of a response. If the content does not exist, the error is
// errdef.ErrNotFound.
func (r *repository) get(ctx context.Context, pageURL *url.URL, accept string) (head http.Header, data []byte,
	err error,
) {
	data, err = httpx.ReadWhole(ctx, r.host, r.tries, maxManifest, func() (io.ReadCloser, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, pageURL.String(), nil)
		if err != nil {
			return nil, diag.Errorf(diag.Internal, "%w", err)
		}
		req.Header.Set("Accept", accept)
		resp, err := r.repo.Client.Do(req)
		if err != nil {
			return nil, err
		}
		if resp.StatusCode != http.StatusOK {
			defer resp.Body.Close()
			return nil, r.statusError(resp)
		}
		head = resp.Header
		return resp.Body, nil
	})
	return head, data, err
}

// statusError maps the status of an unexpected response to an error.
func (r *repository) statusError(resp *http.Response) error {
	if resp.StatusCode == http.StatusNotFound { // read to the end, so that the next request reuses the connection
		_, _ = io.CopyN(io.Discard, resp.Body, maxErrorDocument)
		return errdef.ErrNotFound
	}
	if strings.HasPrefix(resp.Request.URL.Path, r.url("referrers/").Path) {
		switch resp.StatusCode { // as servers answer what they have never heard of
		case http.StatusBadRequest, http.StatusMethodNotAllowed, http.StatusNotAcceptable, http.StatusNotImplemented:
			return errNoReferrers
		}
	}
	return r.client.responseError(r.name, r.host, parseErrorResponse(resp))
}

const maxErrorDocument = 8 << 10 // bytes

// parseErrorResponse parses the error document of a registry.
func parseErrorResponse(resp *http.Response) *errcode.ErrorResponse {
	response := &errcode.ErrorResponse{Method: resp.Request.Method, URL: resp.Request.URL, StatusCode: resp.StatusCode}
	var body struct {
		Errors errcode.Errors `json:"errors"`
	}
	if json.NewDecoder(io.LimitReader(resp.Body, maxErrorDocument)).Decode(&body) == nil {
		response.Errors = body.Errors
	}
	return response
}

// nextPage parses the Link header of the distribution specification. The next page must be on the same server.
func nextPage(link string, pageURL *url.URL) (*url.URL, error) {
	if link == "" {
		return nil, nil
	}
	target, ok := strings.CutPrefix(link, "<")
	target, _, found := strings.Cut(target, ">")
	next, err := pageURL.Parse(target)
	if !ok || !found || err != nil {
		return nil, diag.Errorf(diag.Remote, "%s: the Link header of the response is malformed", pageURL.Host)
	}
	if next.Scheme != pageURL.Scheme || next.Host != pageURL.Host {
		return nil, diag.Errorf(diag.Denied, "%s: the next page of the list is on another server, %s",
			pageURL.Host, next.Host)
	}
	return next, nil
}

// document requests a manifest. It replaces oras-go's Manifests().FetchReference, which does not retry an interrupted
// response, does not name a wrong digest, and reads responses without a digest header before any limit applies.
func (r *repository) document(ctx context.Context, ref string) (document, error) {
	ctx = auth.AppendRepositoryScope(ctx, r.repo.Reference, auth.ActionPull)
	head, raw, err := r.get(ctx, r.url("manifests/"+ref), manifestTypes)
	if err != nil {
		return document{}, r.missing(ctx, ref, err)
	}
	if err := r.rejectHTML(head.Get("Content-Type")); err != nil {
		return document{}, err
	}
	if len(raw) > maxManifest {
		return document{}, diag.Errorf(diag.Invalid, "%s: the OCI manifest is larger than %d bytes", r.name,
			maxManifest)
	}
	sum := digestOf(raw)
	for _, want := range []string{ref, head.Get("Docker-Content-Digest")} {
		switch {
		case want == string(sum), want == "", want == ref && !pack.IsDigest(ref):
		case !pack.IsDigest(want):
			return document{}, diag.Errorf(diag.Invalid,
				"%s sent the invalid digest %q in the header Docker-Content-Digest", r.name, httpx.Clean(want))
		default:
			return document{}, &bundle.MismatchError{
				What: "OCI manifest " + ref + " of " + r.name, Want: want,
				Got: string(sum),
			}
		}
	}
	mediaType, _, _ := strings.Cut(head.Get("Content-Type"), ";")
	return document{desc: ocispec.Descriptor{
		MediaType: strings.TrimSpace(mediaType), Digest: sum,
		Size: int64(len(raw)),
	}, raw: raw}, nil
}

// missing returns the error for missing content, with what exists instead.
func (r *repository) missing(ctx context.Context, ref string, err error) error {
	if !errors.Is(err, errdef.ErrNotFound) {
		return r.client.remoteError(r.host, err)
	}
	if pack.IsDigest(ref) || ref == StatusTag { // most repositories do not have a status
		return diag.Errorf(diag.NotFound, "%s does not contain the artifact %s", r.name, ref)
	}
	tags, err := r.tags(ctx)
	if diag.CodeOf(err) == diag.NotFound {
		return err
	}
	return noTag(r.name, ref, tags) // without hints if the server does not list tags
}

func (r *repository) blob(ctx context.Context, d ocispec.Descriptor) (io.ReadCloser, error) {
	body := &download{ctx: ctx, repo: r, want: d}
	if err := body.open(); err != nil {
		return nil, err
	}
	return body, nil
}

// begin does nothing: a registry has no lock.
func (r *repository) begin(context.Context) (func(), error) { return func() {}, nil }
