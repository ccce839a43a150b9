package registry

import (
	"context"
	"mime"
	"net/url"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
	"github.com/skillpm/skillpm/pkg/source/oci"
)

// apmRegistry is the HTTP API v1 of apm registries (github.com/microsoft/apm,
// docs/src/content/docs/reference/registry-http-api.md). Versions are immutable, and the server states the digest of
// each archive.
type apmRegistry struct{ hubServer }

// apmVersion is a version in the answer to GET /v1/packages/{owner}/{repo}/versions.
type apmVersion struct {
	Version string `json:"version"`
	Digest  string `json:"digest"`
}

// at returns the URL of an endpoint of a package.
func (r apmRegistry) at(ref pack.Ref, path ...string) *url.URL {
	return r.base.JoinPath(append([]string{"v1", "packages", ref.ID.Owner, ref.ID.Name}, path...)...)
}

func (r apmRegistry) versions(ctx context.Context, ref pack.Ref) ([]apmVersion, error) {
	var answer struct {
		Versions []apmVersion `json:"versions"`
	}
	err := r.getJSON(ctx, r.at(ref, "versions"), &answer)
	return answer.Versions, err
}

func (r apmRegistry) list(ctx context.Context, ref pack.Ref) ([]string, oci.Status, error) {
	versions, err := r.versions(ctx, ref)
	list := make([]string, len(versions))
	for i, v := range versions {
		list[i] = v.Version
	}
	return list, oci.Status{}, err
}

func (r apmRegistry) download(ctx context.Context, ref pack.Ref) (*hubDownload, error) {
	versions, err := r.versions(ctx, ref)
	if err != nil {
		return nil, err
	}
	want := ""
	for _, v := range versions {
		if v.Version == ref.Rev {
			want = v.Digest
		}
	}
	if want == "" {
		return nil, diag.Errorf(diag.NotFound, "%s does not have version %s", ref.Source(), ref.Rev)
	}
	if !pack.IsDigest(want) {
		return nil, diag.Errorf(diag.Remote, "%s states the invalid digest %q of version %s", ref.Source(), want, ref.Rev)
	}
	data, header, err := r.get(ctx, r.at(ref, "versions", ref.Rev, "download"), "application/gzip, application/zip",
		maxHubArchive)
	if err != nil {
		return nil, err
	}
	if got := "sha256:" + textx.SHA256(data); got != want {
		return nil, &bundle.MismatchError{What: ref.String(), Want: want, Got: got}
	}
	mediaType, _, _ := mime.ParseMediaType(header.Get("Content-Type")) // "" if it is malformed
	return &hubDownload{data: data, zip: mediaType == "application/zip", digest: want}, nil
}
