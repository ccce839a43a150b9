package author

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/source"
)

// maxSecret limits a password or token on standard input, in bytes.
const maxSecret = 64 << 10

func newLogin(a *app) *cobra.Command {
	var user string
	var stdin bool
	cmd := &cobra.Command{
		Use:   "login REGISTRY",
		Short: "Log in to a registry",
		Long: `REGISTRY is the host name of an OCI registry, or of a server that has an index. skillpm
checks the user name and the password or token, and stores the credentials.

skillpm, docker, and oras share the credentials. They are in the credential helper that
Docker's config.json names for the registry, or in config.json itself. After "docker
login", you do not need "skillpm login".

The command reads the password from the terminal or, with --password-stdin, from standard
input. With the user name '<token>', skillpm stores the input as an identity token.`,
		Example: `  skillpm login ghcr.io
  skillpm login localhost:5000
  skillpm login registry.example -u robot --password-stdin <token.txt
  skillpm login ghcr.io -u "$GITHUB_ACTOR" --password-stdin <token.txt`,
		Args:              console.Need(1, 1, "one REGISTRY"),
		ValidArgsFunction: a.completeLogins,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.login(cmd.Context(), source.LoginHost(args[0]), user, stdin)
		},
	}
	cmd.Flags().StringVarP(&user, "username", "u", "", "log in as the user `NAME`")
	cmd.Flags().BoolVar(&stdin, "password-stdin", false, "read the password or token from standard input")
	return cmd
}

func newLogout(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "logout REGISTRY",
		Short: "Log out of a registry",
		Long: "The command removes the credentials of REGISTRY. docker and oras share the credentials, and\n" +
			"then need a new login, too.",
		Example: `  skillpm logout registry.example
  skillpm logout ghcr.io
  skillpm logout localhost:5000`,
		Args:              console.Need(1, 1, "one REGISTRY"),
		ValidArgsFunction: a.completeLogins,
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.Author()
			if err != nil {
				return err
			}
			host := source.LoginHost(args[0])
			if err := c.Logout(cmd.Context(), host); err != nil {
				return err
			}
			if a.JSON {
				return a.PrintJSON(logoutDocument{host})
			}
			a.Note("Logged out of %s.", host)
			return nil
		},
	}
}

func (a *app) login(ctx context.Context, host, user string, stdin bool) error {
	c, err := a.Author()
	if err != nil {
		return err
	}
	user, secret, err := a.askLogin(ctx, host, user, stdin)
	if err != nil {
		return err
	}
	r, err := c.Login(ctx, host, user, secret)
	if err != nil {
		return err
	}
	if !r.Checked {
		a.Warn("cannot check the credentials: the API root of %s does not require a login", host)
	}
	if a.JSON {
		return a.PrintJSON(r)
	}
	a.Note("Logged in to %s as %s. The credentials are in %s.", r.Host, r.User, r.Where)
	return nil
}

// askLogin reads the login from the flags and standard input, or prompts on a terminal.
func (a *app) askLogin(ctx context.Context, host, user string, stdin bool) (name, secret string, err error) {
	if stdin {
		if user == "" {
			return "", "", diag.Errorf(diag.Usage, "--password-stdin needs a user name").
				WithHint("run: skillpm login %s -u NAME --password-stdin <FILE", host)
		}
		data, err := io.ReadAll(io.LimitReader(a.Stdin, maxSecret+1))
		if err != nil {
			return "", "", fmt.Errorf("cannot read the password from standard input: %w", err)
		}
		secret := strings.TrimRight(string(data), "\r\n")
		switch { // a secret may have several lines, such as a key in JSON
		case secret == "":
			return "", "", diag.Errorf(diag.Usage, "standard input does not contain a password").
				WithHint("run: skillpm login %s -u %s --password-stdin <FILE", host, user)
		case len(data) > maxSecret:
			return "", "", diag.Errorf(diag.Usage, "the password on standard input is larger than %d bytes", maxSecret)
		}
		return user, secret, nil
	}
	missing := diag.Errorf(diag.Usage, "cannot ask for the password: standard input is not a terminal").
		WithHint("run: skillpm login %s -u %s --password-stdin <FILE", host, cmp.Or(user, "NAME"))
	if !a.CanAsk() {
		return "", "", missing
	}
	if user == "" {
		if user, err = a.prompt(ctx, bufio.NewReader(a.Stdin), "User name at "+host+": ", notEmpty); err != nil {
			return "", "", err
		}
	}
	typed, err := a.AskSecret("Password of " + user + " at " + host + ": ")
	if err == nil && typed == nil {
		err = missing
	}
	return user, string(typed), err
}

// completeLogins completes the hosts with a login.
func (a *app) completeLogins(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	c, err := a.Author()
	if err != nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	hosts, _ := c.LoginHosts(cmd.Context()) // completion does not report errors
	return console.Matching(hosts, prefix), cobra.ShellCompDirectiveNoFileComp
}
