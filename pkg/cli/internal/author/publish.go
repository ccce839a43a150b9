package author

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/cli/internal/render"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/publish"
	"github.com/skillpm/skillpm/pkg/source/oci"
)

// publishFlags are the flags of publish and pack that are not options of package publish.
type publishFlags struct {
	workspace bool
	sign      bool
	key       string
	format    string
	from      string
}

func newPublish(a *app) *cobra.Command {
	var o publish.ReleaseOptions
	var flags publishFlags
	cmd := &cobra.Command{
		Use:     "publish [DIR]",
		Short:   "Publish the pack in a directory",
		GroupID: "author",
		Long: `Check the pack in DIR (default: here) and publish it under the name and version
in its skillpm.yaml: to an OCI registry or an OCI layout. Without --to it goes
to the OCI registry that the user's settings bind the pack's owner to, else to
the user's local layout, which install looks in.

In a registry the pack's repository is HOST/NAMESPACE/name where the namespace
ends with the pack's owner, HOST/NAMESPACE where it ends with owner/name, and
HOST/NAMESPACE/owner/name elsewhere; --dry-run says which.

A published version never changes: publishing other content under it is refused,
publishing the same content again succeeds. Its tag is the version. The tags 1.4,
1 and latest move to it, forward only and never to a pre-release.

Of a pack in a git work tree the release names repository and commit, if the
commit has all its files as they are here; else there is a warning.

With --sign the release is signed before its tags are there, with the key in
--key or in SKILLPM_SIGNING_KEY (a PEM text; SKILLPM_SIGNING_PASSWORD if it is
encrypted). The signature, the provenance and a list of what the pack is made
of stand beside it in the registry.

What the pack requires by its path is published as a range of versions: the one
that is written next to the path, or ^ and the version that is there. With
--workspace the packs are published that the workspace: of DIR's skillpm.yaml
names, each after those that it requires, and none unless all are valid.

Files that .skillpmignore names, and what never belongs in a pack, stay out;
--dry-run lists what goes in, makes all the checks, and prints the manifest.

With --from it publishes what skillpm pack wrote, signatures included, and needs
nothing else.`,
		Example: `  skillpm publish
  skillpm publish --to oci://registry.example/acme
  skillpm publish --to oci://registry.example/acme --sign --key acme.key
  skillpm publish ./packs/deploy --to oci-layout:./out
  skillpm publish --dry-run
  skillpm publish --workspace --to oci://registry.example/acme
  skillpm publish --from acme-deploy-1.4.0.tar --to oci://registry.example/acme`,
		Args: console.Need(0, 1, "at most one DIR"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				o.Dir = args[0]
			}
			return a.publish(cmd.Context(), o, flags)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.To, "to", "", "publish to `PLACE`: oci://HOST/NAMESPACE, oci-layout:DIR, local, or a registry's "+
		"name in the settings")
	a.CompleteFlag(cmd, "to", a.completeRegistries(false))
	f.BoolVar(&o.DryRun, "dry-run", false,
		"print files and manifest, look whether they are published already, and publish nothing")
	f.BoolVar(&flags.workspace, "workspace", false, "publish the packs of the workspace in DIR")
	f.StringVar(&flags.from, "from", "", "publish what skillpm pack wrote into `FILE`, or a directory, byte for byte")
	f.BoolVar(&o.KeepTags, "no-moving-tags", false, "leave the tags 1.4, 1 and latest where they are")
	a.addPackFlags(cmd, &o, &flags)
	return cmd
}

// addPackFlags adds the flags for the output.
func (a *app) addPackFlags(cmd *cobra.Command, o *publish.ReleaseOptions, flags *publishFlags) {
	f := cmd.Flags()
	f.BoolVar(&flags.sign, "sign", false, "sign it")
	f.StringVar(&flags.key, "key", "", "sign with the private key in `FILE`")
	f.BoolVar(&o.AllowDirty, "allow-dirty", false, "do not warn of files that are not committed")
	f.StringVar(&flags.format, "format", formatPack, "write the artifact as `FORMAT`: "+textx.And(
		artifactFormats())+"; all but the first for other tools")
	a.CompleteFlag(cmd, "format", func(_ *cobra.Command, _ []string, prefix string) ([]string,
		cobra.ShellCompDirective,
	) {
		return console.Matching(artifactFormats(), prefix), cobra.ShellCompDirectiveNoFileComp
	})
}

// formatPack is the flag's value for oci.FormatPack.
const formatPack = "skillpm"

func artifactFormats() []string {
	return []string{formatPack, oci.FormatAgentSkills, oci.FormatFlux, oci.FormatToolHive}
}

// resolve validates the flags and completes the options.
func (flags publishFlags) resolve(a *app, o *publish.ReleaseOptions) (err error) {
	if !slices.Contains(artifactFormats(), flags.format) {
		return diag.Errorf(diag.Usage, "--format %s is not known", flags.format).
			WithHint("formats are %s", textx.And(artifactFormats()))
	}
	if flags.format != formatPack {
		o.Format = flags.format
	}
	if flags.sign || flags.key != "" {
		o.Key, err = a.SigningKey(flags.key)
	}
	return err
}

func (a *app) publish(ctx context.Context, o publish.ReleaseOptions, flags publishFlags) error {
	if flags.from != "" && (o.Dir != "" || flags.workspace || flags.sign || flags.key != "" ||
		flags.format != formatPack) {
		return diag.Errorf(diag.Usage,
			"--from publishes what was packed as it is: without DIR, --workspace, --format and --sign").
			WithHint("give --format and --sign to skillpm pack, or sign what is published with skillpm sign")
	}
	if err := flags.resolve(a, &o); err != nil {
		return err
	}
	c, err := a.Author()
	if err != nil {
		return err
	}
	if flags.from != "" {
		r, err := c.PublishPacked(ctx, flags.from, o)
		return a.printWorkspace(r, err)
	}
	if flags.workspace {
		r, err := c.PublishWorkspace(ctx, o)
		return a.printWorkspace(r, err)
	}
	r, err := c.Publish(ctx, o)
	if err != nil {
		return err
	}
	return a.printPublish(r)
}

// printWorkspace prints each pack as a single publication does, and then the error. With --json it prints one document.
func (a *app) printWorkspace(r *publish.WorkspaceReport, err error) error {
	if r == nil {
		return err
	}
	if a.JSON {
		if err != nil {
			return err
		}
		if err := a.PrintJSON(r); err != nil || r.Valid() {
			return err
		}
		return console.Reported{Exit: diag.Invalid}
	}
	invalid := 0
	for _, p := range r.Packs {
		if r.Valid() || !p.Valid {
			if printErr := a.printPublish(p); printErr != nil {
				a.Report(nil, printErr)
				invalid++
			}
		}
	}
	if err == nil && invalid > 0 {
		return diag.Errorf(diag.Invalid, "%s of %s not valid: nothing was published", textx.Count(invalid, "pack"),
			textx.Count(len(r.Packs), "pack"))
	}
	return err
}

// printInvalid prints why a pack was not published or packed.
func (a *app) printInvalid(r *publish.ReleaseReport, summary string) error {
	if a.JSON {
		if err := a.PrintJSON(r); err != nil {
			return err
		}
		return console.Reported{Exit: diag.Invalid}
	}
	if err := render.Text(a.App, a.Stderr, render.Outcome{Report: r.Check}); err != nil {
		return err
	}
	return diag.Errorf(diag.Invalid, "%s %s is not valid and was not %s", r.Pack, r.Version, summary).
		WithHint("mend the errors above; skillpm validate shows them again")
}

func (a *app) printPublish(r *publish.ReleaseReport) error {
	if !r.Valid {
		return a.printInvalid(r, "published")
	}
	for _, w := range r.Warnings {
		a.Warn("%s: %s", r.Pack, w)
	}
	if a.JSON {
		return a.PrintJSON(r)
	}
	if r.DryRun {
		return a.printDryRun(r)
	}
	fmt.Fprintf(a.Stdout, "%s@%s %s\n", r.Pack, r.Version, r.Digest)
	if r.Bound {
		a.Note("the settings bind the owner to this registry; --to local publishes on this machine alone")
	}
	switch {
	case r.Existed:
		a.Note("already published at %s with the same content", r.Target)
	case len(r.Files) == 0:
		a.Note("published at %s", r.Target)
	default:
		a.Note("published at %s (%s)", r.Target, textx.Count(len(r.Files), "file"))
	}
	if r.Revision != "" {
		a.Note("from commit %.12s of %s", r.Revision, cmp.Or(r.Source, "a repository without a public address"))
	}
	if len(r.Tags) > 0 {
		a.Note("tags that lead to it now: %s", strings.Join(r.Tags, ", "))
	}
	if r.Signer != "" {
		a.Note("signed by %s", r.Signer)
	}
	return nil
}

// printDryRun prints the files and the metadata of a dry run.
func (a *app) printDryRun(r *publish.ReleaseReport) error {
	rows := [][]string{}
	for _, f := range r.Files {
		rows = append(rows, []string{fmt.Sprintf("%d", f.Size), f.Mode, f.Path})
	}
	if err := console.Table(a.Stdout, rows); err != nil {
		return err
	}
	if r.Manifest != nil {
		var report bytes.Buffer
		if err := json.Indent(&report, r.Manifest, "", "  "); err != nil {
			return err
		}
		fmt.Fprintf(a.Stdout, "\n%s@%s %s\n%s\n", r.Pack, r.Version, r.Digest, console.Printable(report.String()))
	}
	for _, name := range slices.Sorted(maps.Keys(r.Requires)) {
		a.Note("%s %s requires %s %s", r.Pack, r.Version, name, r.Requires[name])
	}
	if r.Existed {
		a.Note("%s %s is already published at %s with the same content", r.Pack, r.Version, r.Target)
	} else {
		a.Note("it would be published at %s", r.Target)
	}
	if len(r.Tags) > 0 {
		a.Note("tags that would lead to it: %s", strings.Join(r.Tags, ", "))
	}
	if r.Bound {
		a.Note("the settings bind the owner to this registry; --to local publishes on this machine alone")
	}
	if len(r.Files) == 0 {
		a.Note("%s %s: nothing was published: this was a dry run", r.Pack, r.Version)
		return nil
	}
	a.Note("%s %s: %s, %d bytes; nothing was published: this was a dry run", r.Pack, r.Version,
		textx.Count(len(r.Files), "file"), r.Size)
	return nil
}
