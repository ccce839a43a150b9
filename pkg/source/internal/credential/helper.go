package credential

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"strings"
	"time"

	"oras.land/oras-go/v2/registry/remote/auth"

	"github.com/skillpm/skillpm/pkg/diag"
)

// helper is the program docker-credential-NAME. What it prints may be a secret, or meant for another terminal: no error
// holds it, and none of it is passed on.
type helper string

// What a helper of Docker's prints where it has no login, and how it calls a token that is changed for others.
const notInHelper = "credentials not found in native keychain"

type helperLogin struct {
	ServerURL string `json:"ServerURL,omitempty"`
	Username  string `json:"Username"`
	Secret    string `json:"Secret"`
}

// Get returns the login for an address, nothing where there is none.
func (h helper) Get(ctx context.Context, server string) (auth.Credential, error) {
	out, err := h.run(ctx, "get", server)
	if err != nil {
		if strings.TrimSpace(string(out)) == notInHelper {
			return auth.EmptyCredential, nil
		}
		return auth.EmptyCredential, err
	}
	var l helperLogin
	if json.Unmarshal(out, &l) != nil {
		return auth.EmptyCredential, diag.Errorf(diag.Denied, "docker-credential-%s returned an invalid login", h)
	}
	if l.Username == TokenUser {
		return auth.Credential{RefreshToken: l.Secret}, nil
	}
	return auth.Credential{Username: l.Username, Password: l.Secret}, nil
}

// Put keeps a login.
func (h helper) Put(ctx context.Context, server string, cred auth.Credential) error {
	l := helperLogin{ServerURL: server, Username: cred.Username, Secret: cred.Password}
	if cred.RefreshToken != "" {
		l.Username, l.Secret = TokenUser, cred.RefreshToken
	}
	text, err := json.Marshal(l)
	if err != nil {
		return diag.Errorf(diag.Internal, "%w", err)
	}
	_, err = h.run(ctx, "store", string(text))
	return err
}

// Delete forgets a login.
func (h helper) Delete(ctx context.Context, server string) error {
	_, err := h.run(ctx, "erase", server)
	return err
}

// list returns the addresses that there are logins for.
func (h helper) list(ctx context.Context) (map[string]string, error) {
	out, err := h.run(ctx, "list", "")
	if err != nil {
		return nil, err
	}
	var users map[string]string // serverAddress -> user
	if json.Unmarshal(out, &users) != nil {
		return nil, diag.Errorf(diag.Denied, "docker-credential-%s returned an invalid list of logins", h)
	}
	return users, nil
}

// run starts the program with an action, and returns what it printed, also where it failed.
func (h helper) run(ctx context.Context, action, input string) ([]byte, error) {
	out := &limitedBuffer{remaining: maxConfig}
	cmd := exec.CommandContext(ctx, "docker-credential-"+string(h), action) //nolint:gosec // user configuration
	cmd.Stdin, cmd.Stdout = strings.NewReader(input), out
	cmd.WaitDelay = 5 * time.Second // it may leave something behind that keeps its output open
	err := cmd.Run()
	switch {
	case err == nil && out.remaining > 0:
		return out.text.Bytes(), nil
	case err == nil:
		return nil, diag.Errorf(diag.Denied, "docker-credential-%s %s printed more than %d bytes", h, action, maxConfig)
	case ctx.Err() != nil:
		return nil, ctx.Err()
	}
	failed := diag.Errorf(diag.Denied, "docker-credential-%s %s: %w", h, action, err)
	if errors.Is(err, exec.ErrNotFound) {
		return nil, failed.WithHint("install docker-credential-%s, or remove the helper from Docker's config.json", h)
	}
	failed = failed.WithHint("run the helper yourself to see its output, which may contain secrets")
	return out.text.Bytes(), failed
}

// limitedBuffer keeps the beginning of what is written to it.
type limitedBuffer struct {
	text      bytes.Buffer
	remaining int
}

// Write takes everything, so that the program that writes does not fail.
func (a *limitedBuffer) Write(p []byte) (int, error) {
	n := min(len(p), a.remaining)
	a.remaining -= n
	_, err := a.text.Write(p[:n])
	return len(p), err
}

var _ io.Writer = (*limitedBuffer)(nil)
