package trust_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/testkit/ocitest"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
	"github.com/skillpm/skillpm/pkg/sign"
	"github.com/skillpm/skillpm/pkg/source/oci"
	"github.com/skillpm/skillpm/pkg/source/trust"
)

func newKey(t testing.TB) *sign.PrivateKey {
	t.Helper()
	k, err := sign.Generate(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func tree(name string) bundle.Tree {
	return bundle.MapTree(name, map[string][]byte{
		"SKILL.md":       []byte("---\nname: " + name + "\ndescription: Does " + name + ".\n---\n"),
		"scripts/run.sh": []byte("#!/bin/sh\necho " + name + "\n"),
	}, func(p string) bool { return p == "scripts/run.sh" })
}

func release(version string, skills ...string) (oci.Release, []bundle.Tree) {
	rel := oci.Release{
		ID: pack.ID{Owner: "acme", Name: "deploy"}, Version: version, Description: "Rolls out", License: "Apache-2.0",
		Dependencies: []pack.Dependency{{ID: pack.ID{Owner: "acme", Name: "base"}, Constraint: ">=1.2 <3"}},
	}
	var trees []bundle.Tree
	for _, name := range skills {
		rel.Skills = append(rel.Skills, oci.SkillMeta{Name: name, Description: "Does " + name + "."})
		trees = append(trees, tree(name))
	}
	return rel, trees
}

// publishPack publishes a pack with the result of attach, and returns it pinned, with its trees.
func publishPack(t testing.TB, c *oci.Client, ref pack.Ref, version string, attach func(context.Context, oci.Pushed, []byte) ([]oci.Artifact, error)) (*pack.Pack, map[string]string) {
	t.Helper()
	rel, trees := release(version, "deploy", "rollback")
	pushed, err := c.Push(t.Context(), ref, rel, trees, oci.PushOptions{Attach: attach})
	if err != nil {
		t.Fatal(err)
	}
	ref.Digest = pushed.Digest
	if ref.Kind != pack.KindOCI {
		ref.ID = rel.ID
	}
	p := &pack.Pack{ID: rel.ID, Version: version, Ref: ref}
	digests := map[string]string{}
	for _, tr := range trees {
		digests[tr.Name] = tr.Inventory.Digest()
	}
	return p, digests
}

func parse(t testing.TB, place string) pack.Ref {
	t.Helper()
	ref, err := pack.Parse(place)
	if err != nil {
		t.Fatal(err)
	}
	return ref
}

// places are the locations of signed packs, each empty.
func places(t *testing.T, each func(t *testing.T, c *oci.Client, ref pack.Ref)) {
	t.Run("referrers API", func(t *testing.T) {
		s := ocitest.New(t)
		each(t, s.Client(t, t.TempDir()), parse(t, s.URL("acme/deploy")))
	})
	t.Run("fallback tag", func(t *testing.T) {
		s := ocitest.DockerRegistry(t, ocitest.Options{})
		each(t, s.Client(t, t.TempDir()), parse(t, s.URL("acme/deploy")))
	})
	t.Run("layout", func(t *testing.T) {
		c := oci.New(oci.Options{Base: t.TempDir()})
		t.Cleanup(c.Close)
		each(t, c, parse(t, "oci-layout:out"))
	})
}

func checkError(t *testing.T, err error, code diag.Code, text string) {
	t.Helper()
	if err == nil || diag.CodeOf(err) != code || !strings.Contains(err.Error(), text) {
		t.Errorf("error is %v (%v), want code %v and %q", err, diag.CodeOf(err), code, text)
	}
	if code == diag.Denied && diag.HintOf(err) == "" {
		t.Errorf("%v has no hint", err)
	}
}

func keys(private ...*sign.PrivateKey) trust.Requirement {
	w := trust.Requirement{Threshold: 1}
	for _, k := range private {
		w.Keys = append(w.Keys, k.Public())
	}
	return w
}

func TestSigners(t *testing.T) {
	places(t, func(t *testing.T, c *oci.Client, ref pack.Ref) {
		key, other := newKey(t), newKey(t)
		p, trees := publishPack(t, c, ref, "1.0.0", trust.Attachments(key, nil, nil))
		k := trust.New(trust.Options{OCI: c, Dir: t.TempDir()})

		got, err := k.Signers(t.Context(), p, trees, keys(other, key))
		if err != nil || !slices.Equal(got, []string{key.Public().ID()}) {
			t.Fatalf("signers are %v, %v", got, err)
		}
		if _, err := k.Signers(t.Context(), p, nil, keys(key)); err != nil {
			t.Errorf("before anything is fetched: %v", err)
		}
		if _, err := k.Signers(t.Context(), p, map[string]string{"rollback": trees["rollback"]}, keys(key)); err != nil {
			t.Errorf("some of the skills: %v", err)
		}
		_, err = k.Signers(t.Context(), p, map[string]string{"deploy": trees["rollback"]}, keys(key))
		checkError(t, err, diag.Integrity, "the digest of skill deploy of acme/deploy@1.0.0 is "+trees["rollback"])
		_, err = k.Signers(t.Context(), p, map[string]string{"more": trees["deploy"]}, keys(key))
		checkError(t, err, diag.Integrity, "does not contain the skill more")

		_, err = k.Signers(t.Context(), p, trees, keys(other))
		checkError(t, err, diag.Denied, "signed, but not by a trusted signer: a signature is from the key "+key.Public().Fingerprint())
		if !errors.As(err, new(*trust.SignerError)) {
			t.Errorf("error is a %T", err)
		}
		_, err = k.Signers(t.Context(), p, trees, trust.Requirement{})
		checkError(t, err, diag.Denied, "must be signed, but no signer is trusted")

		unsigned, _ := publishPack(t, c, ref, "1.1.0", nil)
		_, err = k.Signers(t.Context(), unsigned, nil, keys(key))
		checkError(t, err, diag.Denied, "acme/deploy@1.1.0 must be signed: it does not have a signature")
		if !errors.As(err, new(*trust.UnsignedError)) {
			t.Errorf("error is a %T", err)
		}
	})
}

// TestReplay checks that the signature of one version does not count for another one.
func TestReplay(t *testing.T) {
	places(t, func(t *testing.T, c *oci.Client, ref pack.Ref) {
		key := newKey(t)
		var stolen oci.Artifact
		_, _ = publishPack(t, c, ref, "1.0.0", func(ctx context.Context, s oci.Pushed, m []byte) ([]oci.Artifact, error) {
			all, err := trust.Attachments(key, nil, nil)(ctx, s, m)
			stolen = all[0]
			return all, err
		})
		p, trees := publishPack(t, c, ref, "1.0.1", func(_ context.Context, s oci.Pushed, _ []byte) ([]oci.Artifact, error) {
			stolen.Subject = s.Digest
			return []oci.Artifact{stolen}, nil
		})
		_, err := trust.New(trust.Options{OCI: c}).Signers(t.Context(), p, trees, keys(key))
		checkError(t, err, diag.Denied, "not for "+p.Ref.Digest)
	})
}

// TestProvenanceIsNoSignature checks that provenance does not count as a signature.
func TestProvenanceIsNoSignature(t *testing.T) {
	places(t, func(t *testing.T, c *oci.Client, ref pack.Ref) {
		key := newKey(t)
		p, trees := publishPack(t, c, ref, "1.0.0", func(ctx context.Context, s oci.Pushed, m []byte) ([]oci.Artifact, error) {
			all, err := trust.Attachments(key, &sign.Provenance{Pack: "acme/deploy", Version: "1.0.0"}, nil)(ctx, s, m)
			return all[:1], err
		})
		_, err := trust.New(trust.Options{OCI: c}).Signers(t.Context(), p, trees, keys(key))
		checkError(t, err, diag.Denied, "it does not have a signature")
	})
}

func TestThreshold(t *testing.T) {
	places(t, func(t *testing.T, c *oci.Client, ref pack.Ref) {
		first, second := newKey(t), newKey(t)
		p, trees := publishPack(t, c, ref, "1.0.0", trust.Attachments(first, nil, nil))
		k := trust.New(trust.Options{OCI: c, Dir: t.TempDir()})
		if _, err := k.Sign(t.Context(), p.Ref, first, nil); err != nil {
			t.Fatal(err)
		}
		both := keys(second, first)
		both.Threshold = 2
		_, err := k.Signers(t.Context(), p, trees, both)
		checkError(t, err, diag.Denied, "has 1 of 2 required signatures")

		// The cache has one signature, and the second is fetched if the first is not enough.
		if _, err := k.Sign(t.Context(), p.Ref, second, nil); err != nil {
			t.Fatal(err)
		}
		got, err := k.Signers(t.Context(), p, trees, both)
		if want := []string{second.Public().ID(), first.Public().ID()}; err != nil || !slices.Equal(got, want) {
			t.Errorf("signers are %v, %v, want %v", got, err, want)
		}
	})
}

// TestSignAgain checks that signing and publishing again adds nothing.
func TestSignAgain(t *testing.T) {
	places(t, func(t *testing.T, c *oci.Client, ref pack.Ref) {
		key := newKey(t)
		rel, trees := release("1.0.0", "deploy", "rollback")
		provenance := &sign.Provenance{Pack: "acme/deploy", Version: "1.0.0"}
		attach := trust.Attachments(key, provenance, trust.SBOMOf(rel, trees))
		p, _ := publishPack(t, c, ref, "1.0.0", attach)
		k := trust.New(trust.Options{OCI: c})
		find := func() []trust.Found {
			found, err := k.Find(t.Context(), p.Ref, []*sign.PublicKey{key.Public()}, nil)
			if err != nil {
				t.Fatal(err)
			}
			slices.SortFunc(found, func(a, b trust.Found) int { return strings.Compare(a.Digest, b.Digest) })
			return found
		}
		first := find()
		if len(first) != 4 {
			t.Fatalf("found %+v", first)
		}
		for _, f := range first {
			if plain := f.Type == sign.MediaTypeSBOM; f.Verified == plain || f.Verified && f.Key != key.Public().ID() {
				t.Errorf("%+v", f)
			}
		}
		publishPack(t, c, ref, "1.0.0", attach)
		done, err := k.Sign(t.Context(), p.Ref, key, nil)
		if err != nil || !done.Existed || done.Digest != p.Ref.Digest {
			t.Errorf("signing again: %+v, %v", done, err)
		}
		if again := find(); !slices.Equal(again, first) {
			t.Errorf("after that there are %+v, not %+v", again, first)
		}
	})
}

func TestSignPublished(t *testing.T) {
	places(t, func(t *testing.T, c *oci.Client, ref pack.Ref) {
		key := newKey(t)
		p, trees := publishPack(t, c, ref, "1.0.0", nil)
		k := trust.New(trust.Options{OCI: c, Dir: t.TempDir()})
		at := p.Ref
		at.Digest, at.Rev = "", "1.0.0"
		done, err := k.Sign(t.Context(), at, key, &sign.Provenance{Pack: "acme/deploy", Version: "1.0.0", Repository: "https://git.example/acme/skills", Commit: strings.Repeat("c", 40)})
		if err != nil || done.Existed || done.Digest != p.Ref.Digest {
			t.Fatalf("%+v, %v", done, err)
		}
		if _, err := k.Signers(t.Context(), p, trees, keys(key)); err != nil {
			t.Error(err)
		}
		found, err := k.Find(t.Context(), p.Ref, []*sign.PublicKey{key.Public()}, nil)
		if err != nil || len(found) != 2 {
			t.Fatalf("found %+v, %v", found, err)
		}
		i := slices.IndexFunc(found, func(f trust.Found) bool { return f.Kind == trust.KindProvenance })
		if s := found[i].Source; s.Commit != strings.Repeat("c", 40) || s.Repository != "https://git.example/acme/skills" || s.Builder != sign.BuilderUnknown {
			t.Errorf("the source is %+v", s)
		}
		at.Rev, at.Digest = "", "sha256:"+strings.Repeat("0", 64)
		_, err = k.Sign(t.Context(), at, key, nil)
		checkError(t, err, diag.NotFound, "")
	})
}

// TestOffline checks that a known signature is verified without a server, and that an unknown one is refused.
func TestOffline(t *testing.T) {
	s := ocitest.New(t)
	c := s.Client(t, t.TempDir())
	key, dir := newKey(t), t.TempDir()
	p, trees := publishPack(t, c, parse(t, s.URL("acme/deploy")), "1.0.0", trust.Attachments(key, nil, nil))
	offline := trust.New(trust.Options{OCI: c, Dir: dir, Offline: true})
	s.Requests()
	_, err := offline.Signers(t.Context(), p, trees, keys(key))
	checkError(t, err, diag.Denied, "are not cached")
	if n := len(s.Requests()); n > 0 {
		t.Errorf("%d requests while offline", n)
	}
	online := trust.New(trust.Options{OCI: c, Dir: dir})
	if _, err := online.Signers(t.Context(), p, trees, keys(key)); err != nil {
		t.Fatal(err)
	}
	s.Requests()
	for _, k := range []*trust.Verifier{offline, online} {
		if _, err := k.Signers(t.Context(), p, trees, keys(key)); err != nil {
			t.Errorf("from the cache: %v", err)
		}
	}
	_, err = offline.Signers(t.Context(), p, trees, keys(newKey(t)))
	checkError(t, err, diag.Denied, "not trusted")
	if n := len(s.Requests()); n > 0 {
		t.Errorf("%d requests for what is cached", n)
	}
}

// TestDamagedCache checks that a damaged or edited cache is fetched again, and never trusted.
func TestDamagedCache(t *testing.T) {
	s := ocitest.New(t)
	c := s.Client(t, t.TempDir())
	key, evil, dir := newKey(t), newKey(t), t.TempDir()
	ref := parse(t, s.URL("acme/deploy"))
	p, trees := publishPack(t, c, ref, "1.0.0", trust.Attachments(key, nil, nil))
	k := trust.New(trust.Options{OCI: c, Dir: dir})
	check := func() error {
		_, err := k.Signers(t.Context(), p, trees, keys(key))
		return err
	}
	if err := check(); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*", "*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("the cache holds %v, %v", files, err)
	}
	good, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{
		"empty": {}, "cut off": good[:len(good)/2], "text": []byte("hello"), "null": []byte("null"),
		"other manifest": bytes.Replace(good, []byte(`"manifest":"ey`), []byte(`"manifest":"fy`), 1),
		"no signatures":  append(slices.Clone(good[:bytes.Index(good, []byte(`,"bundles"`))]), '}'),
	} {
		if bytes.Equal(data, good) {
			t.Fatalf("%s: nothing was damaged", name)
		}
		if err := os.WriteFile(files[0], data, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := check(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if now, err := os.ReadFile(files[0]); err != nil || !bytes.Equal(now, good) {
			t.Errorf("%s: the cache was not mended: %v", name, err)
		}
	}
	if err := os.Remove(files[0]); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(files[0], 0o755); err != nil {
		t.Fatal(err)
	}
	if err := check(); err != nil {
		t.Errorf("a directory in its place: %v", err)
	}

	// A signature by another signer is not trusted because it is in the cache.
	other, _ := publishPack(t, c, ref, "2.0.0", trust.Attachments(evil, nil, nil))
	if _, err := k.Signers(t.Context(), other, nil, keys(evil)); err != nil {
		t.Fatal(err)
	}
	_, err = k.Signers(t.Context(), other, nil, keys(key))
	checkError(t, err, diag.Denied, "not trusted")
}

// TestHostileReferrers checks that a registry's list is limited, and that an unreadable entry neither counts as a
// signature nor hides the others.
func TestHostileReferrers(t *testing.T) {
	s := ocitest.New(t)
	c := s.Client(t, t.TempDir())
	key := newKey(t)
	p, trees := publishPack(t, c, parse(t, s.URL("acme/deploy")), "1.0.0", func(ctx context.Context, subject oci.Pushed, m []byte) ([]oci.Artifact, error) {
		all, err := trust.Attachments(key, nil, nil)(ctx, subject, m)
		bad := []oci.Artifact{
			{Type: sign.MediaTypeBundle, Blobs: []oci.Blob{{MediaType: sign.MediaTypeBundle, Data: []byte("{}")}}},
			{Type: sign.MediaTypeBundle, Blobs: []oci.Blob{{MediaType: "text/plain", Data: []byte("hello")}}},
			{Type: sign.MediaTypeBundle, Blobs: []oci.Blob{{MediaType: sign.MediaTypeBundle, Data: bytes.Repeat([]byte("a"), 2<<20)}}},
			{Type: "application/vnd.example", Blobs: []oci.Blob{{MediaType: "text/plain", Data: []byte("x")}}},
		}
		return append(bad, all...), err
	})
	k := trust.New(trust.Options{OCI: c, Dir: t.TempDir()})
	if got, err := k.Signers(t.Context(), p, trees, keys(key)); err != nil || len(got) != 1 {
		t.Errorf("signers are %v, %v", got, err)
	}
	found, err := k.Find(t.Context(), p.Ref, []*sign.PublicKey{key.Public()}, nil)
	if err != nil || len(found) != 5 {
		t.Fatalf("found %+v, %v", found, err)
	}
	for _, f := range found {
		if f.Verified != (f.Kind == trust.KindSignature) || f.Verified != (f.Problem == "") {
			t.Errorf("%+v", f)
		}
	}

	// A registry that fails does not count as one without signatures.
	s.Meddle(func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.Contains(r.URL.Path, "/referrers/") {
			return false
		}
		w.WriteHeader(http.StatusBadGateway)
		return true
	})
	_, err = trust.New(trust.Options{OCI: c}).Signers(t.Context(), p, trees, keys(key))
	checkError(t, err, diag.Remote, "")
}

// foreign adds an artifact that has neither name nor version nor trees, in the format of other tools, and returns it as
// acme/deploy 1.0.0.
func foreign(t *testing.T, c *oci.Client, ref pack.Ref) (*pack.Pack, map[string]string) {
	t.Helper()
	var err error
	ref.Digest, err = c.PutArtifact(t.Context(), ref, oci.Artifact{
		Type: "application/vnd.example", Blobs: []oci.Blob{{MediaType: "application/vnd.oci.image.layer.v1.tar+gzip", Data: []byte("x")}},
	})
	if err != nil {
		t.Fatal(err)
	}
	p := &pack.Pack{ID: pack.ID{Owner: "acme", Name: "deploy"}, Version: "1.0.0", Ref: ref}
	return p, map[string]string{"deploy": tree("deploy").Inventory.Digest()}
}

// TestRecord checks that an artifact of another tool, which names no trees, counts with the trees that this machine got
// when it fetched exactly that artifact.
func TestRecord(t *testing.T) {
	s := ocitest.New(t)
	c := s.Client(t, t.TempDir())
	p, trees := foreign(t, c, parse(t, s.URL("acme/deploy")))
	k := trust.New(trust.Options{OCI: c, State: t.TempDir()})
	if err := k.Origin(t.Context(), p, trees); !errors.As(err, new(*trust.UnknownTreesError)) {
		t.Fatalf("without a record: %v", err)
	}
	if err := k.Record(p, trees); err != nil {
		t.Fatal(err)
	}
	if err := k.Origin(t.Context(), p, trees); err != nil {
		t.Errorf("with a record: %v", err)
	}
	edited := map[string]string{"deploy": "t1:sha256:" + strings.Repeat("0", 64)}
	checkError(t, k.Origin(t.Context(), p, edited), diag.Integrity, "but the fetched digest is")
	checkError(t, k.Record(p, edited), diag.Integrity, "when skillpm first fetched the skill")
}

// TestUnnamed checks that a signature over content without a pack name and version never counts, because it would be
// valid for every tag and name.
func TestUnnamed(t *testing.T) {
	s := ocitest.New(t)
	c := s.Client(t, t.TempDir())
	key := newKey(t)
	p, trees := foreign(t, c, parse(t, s.URL("acme/deploy")))
	k := trust.New(trust.Options{OCI: c, Dir: t.TempDir(), State: t.TempDir()})
	for range 2 {
		if done, err := k.Sign(t.Context(), p.Ref, key, nil); err != nil || !done.Unnamed {
			t.Fatalf("%+v, %v", done, err)
		}
	}
	if err := k.Record(p, trees); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time from the cache
		_, err := k.Signers(t.Context(), p, trees, keys(key))
		checkError(t, err, diag.Denied, "does not include the name and version of the pack")
		if !errors.As(err, new(*trust.UnnamedError)) {
			t.Errorf("error is a %T", err)
		}
		_, err = k.Signers(t.Context(), p, nil, keys(key))
		checkError(t, err, diag.Denied, "does not include the name and version of the pack")
	}
}

// TestOrigin checks that a manifest on this machine does not prove that a source has it: it must come from the source
// itself.
func TestOrigin(t *testing.T) {
	s := ocitest.New(t)
	c := s.Client(t, t.TempDir())
	key, dir, state := newKey(t), t.TempDir(), t.TempDir()
	online := trust.New(trust.Options{OCI: c, Dir: dir, State: state})
	offline := trust.New(trust.Options{OCI: c, Dir: dir, State: state, Offline: true})
	p, trees := publishPack(t, c, parse(t, s.URL("evil/acme/deploy")), "1.0.0", trust.Attachments(key, nil, nil))
	if _, err := online.Signers(t.Context(), p, trees, keys(key)); err != nil {
		t.Fatal(err)
	}
	if err := online.Origin(t.Context(), p, trees); err != nil {
		t.Error(err)
	}
	other := *p
	other.Ref = parse(t, s.URL("acme/deploy"))
	other.Ref.Digest = p.Ref.Digest
	checkError(t, offline.Origin(t.Context(), &other, trees), diag.Remote, "the OCI manifest from oci://"+s.Host+"/acme/deploy")
	checkError(t, online.Origin(t.Context(), &other, trees), diag.NotFound, "")
	s.Requests()
	for _, k := range []*trust.Verifier{online, offline} {
		if err := k.Origin(t.Context(), p, trees); err != nil {
			t.Errorf("what came from there: %v", err)
		}
	}
	if n := len(s.Requests()); n > 0 {
		t.Errorf("%d requests for what came before", n)
	}
	if _, err := offline.Signers(t.Context(), p, trees, keys(key)); err != nil {
		t.Errorf("the signatures were lost: %v", err)
	}
}
