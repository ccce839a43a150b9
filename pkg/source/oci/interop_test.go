package oci_test

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skillpm/skillpm/pkg/internal/testkit/ocitest"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
	"github.com/skillpm/skillpm/pkg/source/oci"
)

// tool returns the path of another program: the value of its variable, or else the one on PATH. If it is missing, the
// test is skipped, unless a variable requires it.
func tool(t *testing.T, name, variable string, required ...string) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no executable bits to compare")
	}
	if path := os.Getenv(variable); path != "" {
		return path
	}
	path, err := exec.LookPath(name)
	if err != nil {
		for _, r := range append(required, "SKILLPM_REQUIRE_INTEROP") {
			if os.Getenv(r) == "1" {
				t.Fatalf("%s is not installed and %s=1", name, r)
			}
		}
		t.Skipf("%s is not installed; %s names it, and SKILLPM_REQUIRE_INTEROP=1 makes this an error", name, variable)
	}
	return path
}

func oras(t *testing.T) string {
	t.Helper()
	return tool(t, "oras", "SKILLPM_ORAS", "SKILLPM_REQUIRE_ORAS")
}

// runIn runs a program in a directory and returns what it printed.
func runIn(t *testing.T, dir string, env []string, program string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %q: %v\n%s", filepath.Base(program), args, err, out)
	}
	t.Logf("%s %q\n%s", filepath.Base(program), args, out)
	return string(out)
}

// skillDirs writes trees as directories, and returns their parent.
func skillDirs(t *testing.T, trees []bundle.Tree) string {
	t.Helper()
	dir := t.TempDir()
	for _, tree := range trees {
		for _, e := range tree.Inventory {
			r, err := tree.Open(e.Path)
			if err != nil {
				t.Fatal(err)
			}
			data, err := io.ReadAll(r)
			_ = r.Close()
			if err != nil {
				t.Fatal(err)
			}
			path, mode := filepath.Join(dir, tree.Name, filepath.FromSlash(e.Path)), os.FileMode(0o644)
			if e.Executable {
				mode = 0o755
			}
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, data, mode); err != nil {
				t.Fatal(err)
			}
		}
	}
	return dir
}

// TestFluxOperatorInstall makes flux-operator install a pack in its format. It requires a git repository as project.
func TestFluxOperatorInstall(t *testing.T) {
	program := tool(t, "flux-operator", "SKILLPM_FLUX_OPERATOR")
	for name, s := range map[string]*ocitest.Server{
		"olareg": ocitest.New(t), "docker-registry": ocitest.DockerRegistry(t, ocitest.Options{}),
	} {
		t.Run(name, func(t *testing.T) {
			rel, trees := release("1.0.0", "deploy", "rollback")
			ref := pack.Ref{Kind: pack.KindOCI, URL: s.URL("acme/deploy")}
			if _, err := s.Client(t, "").Push(t.Context(), ref, rel, trees, oci.PushOptions{Format: oci.FormatFlux}); err != nil {
				t.Fatal(err)
			}
			project := t.TempDir()
			runIn(t, project, nil, "git", "init", "-q")
			out := runIn(t, project, []string{"HOME=" + t.TempDir()}, program, "skills", "install", s.Host+"/acme/deploy", "--tag", "1.0.0", "--verify=false")
			if !strings.Contains(out, "Installed 2 skill(s)") {
				t.Errorf("it says\n%s", out)
			}
			comparePulledIn(t, filepath.Join(project, ".agents", "skills"), trees)
		})
	}
}

// comparePulledIn checks that dir has the trees. Other files are allowed.
func comparePulledIn(t *testing.T, dir string, trees []bundle.Tree) {
	t.Helper()
	for _, tree := range trees {
		got, err := bundle.Sum(os.DirFS(dir), tree.Name)
		if err != nil || !slices.Equal(got, tree.Inventory) {
			t.Errorf("%s: %v\n%swant\n%s", tree.Name, err, got.Encode(), tree.Inventory.Encode())
		}
	}
}

// TestFluxOperatorPublish fetches an artifact that flux-operator published.
func TestFluxOperatorPublish(t *testing.T) {
	program := tool(t, "flux-operator", "SKILLPM_FLUX_OPERATOR")
	s := ocitest.New(t)
	_, trees := release("1.0.0", "deploy", "rollback")
	dir := skillDirs(t, trees)
	runIn(t, dir, []string{"HOME=" + t.TempDir()}, program, "skills", "publish", s.Host+"/acme/deploy", "--path", dir, "--tag", "1.4.0")
	c := s.Client(t, "")
	p, err := c.Open(t.Context(), pack.Ref{Kind: pack.KindOCI, URL: s.URL("acme/deploy"), Rev: "1.4.0"})
	if err != nil {
		t.Fatal(err)
	}
	if p.Version != "1.4.0" || len(p.Skills) != 2 {
		t.Errorf("opened %+v", p)
	}
	checkFetched(t, c, p, trees)
}

// toolHive starts ToolHive's server, which runs its commands, and returns a function that runs them. It only checks
// that a container runtime is present, so a dummy suffices.
func toolHive(t *testing.T) func(args ...string) string {
	t.Helper()
	program := tool(t, "thv", "SKILLPM_THV")
	home := t.TempDir()
	socket := filepath.Join(t.TempDir(), "s")
	containers, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	runtime := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Api-Version", "1.44")
		_, _ = io.WriteString(w, "OK")
	})}
	go func() { _ = runtime.Serve(containers) }()
	t.Cleanup(func() { _ = runtime.Close() })

	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String()
	_ = free.Close()
	_, port, _ := net.SplitHostPort(address)
	env := []string{
		"HOME=" + home, "XDG_CONFIG_HOME=" + home + "/c", "XDG_DATA_HOME=" + home + "/d", "XDG_STATE_HOME=" + home + "/s", "XDG_CACHE_HOME=" + home + "/k",
		"TOOLHIVE_DOCKER_SOCKET=" + socket, "TOOLHIVE_DEV=true", "TOOLHIVE_API_URL=http://" + address,
	}
	var log bytes.Buffer
	serve := exec.Command(program, "serve", "--port", port)
	serve.Env, serve.Stdout, serve.Stderr = append(os.Environ(), env...), &log, &log
	if err := serve.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = serve.Process.Kill()
		_ = serve.Wait()
		if t.Failed() {
			t.Logf("thv serve:\n%s", log.String())
		}
	})
	for range 200 {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			_ = conn.Close()
			return func(args ...string) string { return runIn(t, home, env, program, args...) }
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatal("thv serve does not answer")
	return nil
}

// TestToolHiveInstall makes ToolHive install a pack in its format. It installs no executable bits.
func TestToolHiveInstall(t *testing.T) {
	run := toolHive(t)
	s := ocitest.New(t)
	rel, trees := release("1.0.0", "deploy")
	ref := pack.Ref{Kind: pack.KindOCI, URL: s.URL("acme/deploy")}
	if _, err := s.Client(t, "").Push(t.Context(), ref, rel, trees, oci.PushOptions{Format: oci.FormatToolHive}); err != nil {
		t.Fatal(err)
	}
	project := t.TempDir()
	runIn(t, project, nil, "git", "init", "-q")
	run("skill", "install", s.Host+"/acme/deploy:1.0.0", "--scope", "project", "--project-root", project, "--clients", "claude-code", "--allow-unsigned")
	info := run("skill", "info", "deploy", "--scope", "project", "--project-root", project)
	if !strings.Contains(info, "1.0.0") {
		t.Errorf("it knows\n%s", info)
	}
	for _, e := range trees[0].Inventory {
		info, err := os.Stat(filepath.Join(project, ".claude", "skills", "deploy", filepath.FromSlash(e.Path)))
		if err != nil || info.Size() != e.Size || info.Mode()&0o111 != 0 {
			t.Errorf("%s: %v %v, want %d bytes", e.Path, info, err, e.Size)
		}
	}
}

// TestToolHivePush fetches an artifact that ToolHive built and pushed.
func TestToolHivePush(t *testing.T) {
	run := toolHive(t)
	s := ocitest.New(t)
	_, trees := release("1.0.0", "deploy")
	built := strings.TrimSpace(run("skill", "build", filepath.Join(skillDirs(t, trees), "deploy"), "--tag", s.Host+"/acme/deploy:1.2.0"))
	run("skill", "push", s.Host+"/acme/deploy:1.2.0", "--no-sign")
	c := s.Client(t, "")
	p, err := c.Open(t.Context(), pack.Ref{Kind: pack.KindOCI, URL: s.URL("acme/deploy"), Rev: "1.2.0"})
	if err != nil {
		t.Fatalf("%s: %v", built, err)
	}
	if p.Version != "1.2.0" || len(p.Skills) != 1 || p.Skills[0].Name != "deploy" {
		t.Errorf("opened %+v", p)
	}
	got := fetch(t, c, p)["deploy"]
	for i, e := range trees[0].Inventory { // ToolHive's archives have no executable bits
		if i >= len(got) || got[i].Path != e.Path || got[i].SHA256 != e.SHA256 {
			t.Errorf("got\n%swant\n%s", got.Encode(), trees[0].Inventory.Encode())
			break
		}
	}
}

// TestImageUnpack makes two container tools pull an image from registries and unpack it, as an engine does before it
// mounts the image.
func TestImageUnpack(t *testing.T) {
	skopeo, umoci := tool(t, "skopeo", "SKILLPM_SKOPEO"), tool(t, "umoci", "SKILLPM_UMOCI")
	for name, s := range map[string]*ocitest.Server{
		"olareg": ocitest.New(t), "docker-registry": ocitest.DockerRegistry(t, ocitest.Options{}),
	} {
		t.Run(name, func(t *testing.T) {
			rel, trees := release("1.0.0", "deploy", "rollback")
			ref := pack.Ref{Kind: pack.KindOCI, URL: s.URL("acme/deploy")}
			if _, err := s.Client(t, "").Push(t.Context(), ref, rel, trees, oci.PushOptions{Format: oci.FormatImage}); err != nil {
				t.Fatal(err)
			}
			work := t.TempDir()
			runIn(t, work, nil, skopeo, "copy", "--insecure-policy", "--src-tls-verify=false",
				"docker://"+s.Host+"/acme/deploy:1.0.0", "oci:image:1.0.0")
			runIn(t, work, nil, umoci, "unpack", "--rootless", "--image", "image:1.0.0", "bundle")
			root := filepath.Join(work, "bundle", "rootfs")
			files := 0
			for _, tree := range trees {
				for _, e := range tree.Inventory {
					files++
					want := os.FileMode(0o644)
					if e.Executable {
						want = 0o755
					}
					info, err := os.Stat(filepath.Join(root, tree.Name, filepath.FromSlash(e.Path)))
					if err != nil || info.Size() != e.Size || info.Mode() != want {
						t.Errorf("%s/%s: %v %v, want %d bytes with mode %v", tree.Name, e.Path, info, err, e.Size, want)
					}
				}
			}
			err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
				if err != nil || path == root {
					return err
				}
				if info, err := d.Info(); d.IsDir() && (err != nil || info.Mode().Perm() != 0o755) {
					t.Errorf("%s: %v %v", path, info.Mode(), err)
				}
				if !d.IsDir() {
					files--
				}
				return nil
			})
			if err != nil || files != 0 {
				t.Errorf("%v; %d files are missing", err, files)
			}
		})
	}
}
