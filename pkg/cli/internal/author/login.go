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
		Use:     "login HOST",
		Short:   "Log in to a registry",
		GroupID: "author",
		Long: `Keep a user and password, or token, for the registry at HOST, or for the server
of an index that is read over HTTPS. It is asked first whether it takes them. They are kept where docker and oras keep
theirs: with the credential helper that Docker's config.json names for HOST, or
in that file. Whoever is logged in there already needs no login here.

The password comes from standard input with --password-stdin, or is asked for on
a terminal; it is no argument, where other users could see it. With the user
'<token>' it is an identity token that other tokens are had for.`,
		Example: `  skillpm login registry.example -u robot --password-stdin <token.txt
  echo "$GITHUB_TOKEN" | skillpm login ghcr.io -u "$GITHUB_ACTOR" --password-stdin
  skillpm login localhost:5000`,
		Args:              console.Need(1, 1, "one HOST"),
		ValidArgsFunction: a.completeLogins,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.login(cmd.Context(), source.LoginHost(args[0]), user, stdin)
		},
	}
	cmd.Flags().StringVarP(&user, "username", "u", "", "the user's `NAME`")
	cmd.Flags().BoolVar(&stdin, "password-stdin", false, "read the password or token from standard input")
	return cmd
}

func newLogout(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "logout HOST",
		Short:   "Forget the login for a registry",
		GroupID: "author",
		Long: `Forget the user and password that are kept for the registry at HOST, for docker
and oras, too, which keep theirs in the same place.`,
		Example:           "  skillpm logout registry.example",
		Args:              console.Need(1, 1, "one HOST"),
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
				return a.PrintJSON(map[string]string{"host": host})
			}
			a.Note("logged out of %s", host)
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
		a.Warn("%s asks for no login at its front door: whether it takes this one is not known", host)
	}
	if a.JSON {
		return a.PrintJSON(r)
	}
	a.Note("logged in to %s as %s; %s has it, or the helper that it names", r.Host, r.User, r.Where)
	return nil
}

// askLogin reads the login from the flags and standard input, or prompts on a terminal.
func (a *app) askLogin(ctx context.Context, host, user string, stdin bool) (name, secret string, err error) {
	if stdin {
		if user == "" {
			return "", "", diag.Errorf(diag.Usage, "--password-stdin needs a user").
				WithHint("skillpm login %s -u NAME --password-stdin", host)
		}
		data, err := io.ReadAll(io.LimitReader(a.Stdin, maxSecret+1))
		if err != nil {
			return "", "", fmt.Errorf("standard input: %w", err)
		}
		secret := strings.TrimRight(string(data), "\r\n")
		if secret == "" || len(data) > maxSecret {
			return "", "", diag.Errorf(diag.Usage, "standard input has no password, or more than one").
				WithHint("skillpm login %s -u %s --password-stdin <FILE", host, user)
		}
		return user, secret, nil
	}
	missing := diag.Errorf(diag.Usage, "nobody can be asked for the password: standard input is no terminal").
		WithHint("skillpm login %s -u %s --password-stdin <FILE", host, cmp.Or(user, "NAME"))
	if !a.CanAsk() {
		return "", "", missing
	}
	if user == "" {
		if user, err = a.prompt(ctx, bufio.NewReader(a.Stdin), "User name at "+console.Printable(host)+": ",
			notEmpty); err != nil {
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
