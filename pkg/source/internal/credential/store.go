package credential

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/credentials"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/pathx"
	"github.com/skillpm/skillpm/pkg/internal/secret"
)

// Login is what a host is shown. The zero value is nothing.
type Login struct {
	User     string
	Secret   string // a password, or a token that is used as one
	Identity string // an OAuth2 refresh token, which a token server changes for others
	Token    string // a token that is shown as it is
}

// IsZero reports whether there is nothing to show.
func (l Login) IsZero() bool { return l == Login{} }

// Teach adds the credentials of the login to the secrets of a process.
func (l Login) Teach(secrets *secret.Set) {
	secrets.LearnPassword(l.User, l.Secret)
	secrets.Learn(l.Identity)
	secrets.Learn(l.Token)
}

// Options say where Docker's configuration is.
type Options struct {
	Getenv func(string) string // where DOCKER_CONFIG is looked up; nil for no environment
	Home   string              // where .docker/config.json is; "" for no configuration
	// Secrets learns the logins that are read; nil for none.
	Secrets *secret.Set
}

// Store is Docker's configuration with its helpers. It may be used by several goroutines at once.
type Store struct {
	path    string // "" if there is none
	secrets *secret.Set

	mu   sync.Mutex
	file credentials.Store // nil until the file is read
}

// Open returns a store. Nothing is read before it is needed, and the file need not be there.
func Open(o Options) *Store {
	return &Store{path: configPath(o), secrets: o.Secrets}
}

func configPath(o Options) string {
	if o.Getenv != nil {
		if dir := o.Getenv("DOCKER_CONFIG"); dir != "" {
			return filepath.Join(dir, "config.json")
		}
	}
	if o.Home == "" {
		return ""
	}
	return filepath.Join(o.Home, ".docker", "config.json")
}

// Path returns the file of the configuration, "" where there can be none.
func (s *Store) Path() string { return s.path }

// backend is what keeps logins: a helper, or the file.
type backend interface {
	Get(ctx context.Context, server string) (auth.Credential, error)
	Put(ctx context.Context, server string, cred auth.Credential) error
	Delete(ctx context.Context, server string) error
}

// backendFor returns what keeps the login for a host: the helper that the configuration names for it, else the file,
// read now.
func (s *Store) backendFor(hostport string, file func() (credentials.Store, error)) (backend, error) {
	h, err := s.helperOf(hostport)
	if err != nil || h != "" {
		return h, err
	}
	return file()
}

// read returns what was read before, or reads the file.
func (s *Store) read() (credentials.Store, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file == nil {
		store, err := s.load(credentials.StoreOptions{})
		if err != nil {
			return nil, err
		}
		s.file = store
	}
	return s.file, nil
}

func (s *Store) load(o credentials.StoreOptions) (credentials.Store, error) {
	store, err := credentials.NewStore(followLink(s.path), o)
	if err != nil {
		return nil, diag.Errorf(diag.Invalid, "%s: %w", s.path, err).
			WithHint("fix the file, or move it away and log in again with: skillpm login REGISTRY")
	}
	return store, nil
}

// followLink follows a link, so that what replaces the file does not replace the link.
func followLink(path string) string {
	if real, err := pathx.ResolveExisting(path); err == nil {
		return real
	}
	return path
}

// Get returns the login for a host, nothing where there is none.
func (s *Store) Get(ctx context.Context, hostport string) (Login, error) {
	if s.path == "" {
		return Login{}, nil
	}
	store, err := s.backendFor(hostport, s.read)
	if err != nil {
		return Login{}, err
	}
	cred, err := store.Get(ctx, serverAddress(hostport))
	if err != nil {
		return Login{}, s.wrapError(hostport, store, err)
	}
	login := Login{User: cred.Username, Secret: cred.Password, Identity: cred.RefreshToken, Token: cred.AccessToken}
	login.Teach(s.secrets)
	return login, nil
}

// TokenUser is the name with which Docker and its helpers keep a token that a token server changes for others.
const TokenUser = "<token>"

// Put keeps a login for a host: with the helper that the configuration names for it, else in the file.
func (s *Store) Put(ctx context.Context, hostport, user, secret string) error {
	switch {
	case s.path == "":
		return diag.Errorf(diag.NotFound, "cannot store logins: the home directory is unknown").
			WithHint("set DOCKER_CONFIG to a directory")
	case hostport == "" || strings.ContainsAny(hostport, "/ \t\r\n"):
		return diag.Errorf(diag.Usage, "invalid host %q", hostport).
			WithHint("use host or host:port, such as registry.example:5000")
	case strings.Contains(user, ":"): // RFC 7617, section 2
		return diag.Errorf(diag.Usage, "the user name must not contain a colon")
	case secret == "":
		return diag.Errorf(diag.Usage, "the password for %s is empty", hostport)
	}
	cred := auth.Credential{Username: user, Password: secret}
	if user == TokenUser {
		cred = auth.Credential{RefreshToken: secret}
	}
	return s.change(hostport, func(k backend) error { return k.Put(ctx, serverAddress(hostport), cred) })
}

// Delete forgets the login for a host. That there was none is [diag.NotFound].
func (s *Store) Delete(ctx context.Context, hostport string) error {
	if s.path == "" {
		return noLogin(hostport)
	}
	return s.change(hostport, func(k backend) error {
		if cred, err := k.Get(ctx, serverAddress(hostport)); err != nil {
			return err
		} else if cred == auth.EmptyCredential {
			return noLogin(hostport)
		}
		return k.Delete(ctx, serverAddress(hostport))
	})
}

func noLogin(hostport string) error {
	return diag.Errorf(diag.NotFound, "no login found for %s", hostport)
}

// change changes what a helper or the file has; the file is read again, because others may have changed it.
func (s *Store) change(hostport string, f func(backend) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	store, err := s.backendFor(hostport, func() (credentials.Store, error) {
		return s.load(credentials.StoreOptions{AllowPlaintextPut: true})
	})
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(s.path), 0o700); err != nil {
		return diag.Errorf(diag.Internal, "%w", err)
	}
	if err := f(store); diag.CodeOf(err) == diag.NotFound {
		return err
	} else if err != nil {
		return s.wrapError(hostport, store, err)
	}
	s.file = nil
	return nil
}

// wrapError names the login that could not be read or stored. It drops the message of the file's reader, which may
// contain secrets.
func (s *Store) wrapError(hostport string, store backend, err error) error {
	if _, ok := store.(helper); ok {
		return fmt.Errorf("cannot access the login for %s: %w", hostport, err)
	}
	return diag.Errorf(diag.Denied, "%s: the entry for %s is not a valid login", s.path, hostport).
		WithHint("log in again with: skillpm login %s", hostport)
}

// serverAddress is the name under which Docker keeps the login for a host.
func serverAddress(hostport string) string {
	host := Host(hostport)
	if host == "docker.io" {
		return "https://index.docker.io/v1/"
	}
	return host
}
