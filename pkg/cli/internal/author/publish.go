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

// publishFlags are the flags of publish that are not options of package publish.
type publishFlags struct {
	workspace bool
	sign      bool
	key       string
	format    string
	from      string
	reports   []string
}

func newPublish(a *app) *cobra.Command {
	var o publish.ReleaseOptions
	var flags publishFlags
	var output string
	cmd := &cobra.Command{
		Use:   "publish [DIR]",
		Short: "Publish the pack in a directory",
		Long: `skillpm.yaml in DIR (default: this directory) has the name and version of the pack.
skillpm validates the pack, and rejects packs with error findings. Without --to, skillpm
publishes to the OCI registry that the user's settings bind the owner to. If the settings
do not bind the owner, skillpm publishes to the user's local layout. "skillpm install"
finds the pack in the registry and in the local layout.

--dry-run shows the repository of the pack. The end of NAMESPACE in --to selects the
repository:

  oci://REGISTRY/.../owner       REGISTRY/.../owner/name
  oci://REGISTRY/.../owner/name  REGISTRY/.../owner/name
  any other namespace            REGISTRY/NAMESPACE/owner/name

A published version never changes. If you publish different content under the same version,
the command fails. If you publish the same content again, it succeeds. The tag of a release is its
version. For version 1.4.0, the tags 1.4, 1, and latest move to the release, unless they
refer to a higher version. These three tags never move to a prerelease. If the pack is in a
git repository, the release records the repository and the commit. skillpm warns about uncommitted changes.

--sign signs the release before the registry gets the tags. Pass the private key with
--signing-key, or as PEM text in SKILLPM_SIGNING_KEY. SKILLPM_SIGNING_PASSWORD decrypts
the key. Without a key, skillpm-keyless signs with the identity of the job of GitHub Actions
or GitLab CI. The registry stores the signature, the provenance, and the SBOM next to the pack.

If skills have offline tests ("skillpm test"), skillpm runs the tests and records the result
next to the pack, signed if the release is signed. On Linux, scripts of tests run in the
sandbox, without a network. "publish: {require-tests: true}" in skillpm.yaml rejects a pack
unless each skill has tests and all tests pass. --test-report also records an evaluation,
which "skillpm test --agent AGENT --output FILE" wrote, if the evaluated files are the
published ones.

In the published pack, skillpm replaces the path of a dependency with a version range. If
skillpm.yaml has a version range next to the path, skillpm uses this range. Otherwise, the
range is ^ and the version of the pack at the path.

--workspace publishes all packs that "workspace:" in DIR's skillpm.yaml lists, each after
its dependencies. If a pack is invalid, skillpm publishes none of the packs.

--output writes an OCI image layout instead of publishing the pack. The layout is a tar file
if the name ends with .tar, otherwise a directory. The layout has the digest of the published pack, and equal
packs give equal files. A directory can contain many packs. To install a pack from a
directory, run "skillpm install oci-layout:DIR//OWNER/NAME". --from publishes the file or
directory with its signatures.

--format image publishes a container image for Linux. Its root has a directory for each
skill, so Kubernetes can mount it as an image volume, and a Dockerfile can copy from it:

  volumes:
    - {name: skills, image: {reference: registry.example/acme/deploy:1.4.0}}
  volumeMounts:
    - {name: skills, mountPath: /home/agent/.claude/skills}

  COPY --from=registry.example/acme/deploy:1.4.0 / /home/agent/.claude/skills/

"skillpm install" installs packs of all formats.

The pack does not contain the files that .skillpmignore lists. --dry-run does all checks,
lists the files, and prints the OCI manifest.`,
		Example: `  skillpm publish --dry-run
  skillpm publish
  skillpm publish --output acme-deploy.tar
  skillpm publish --to oci://registry.example/acme
  skillpm publish --to oci://registry.example/acme --sign --signing-key acme.key
  skillpm publish ./packs/deploy --to oci-layout:./out
  skillpm publish --workspace --to oci://registry.example/acme
  skillpm publish --from acme-deploy.tar --to oci://registry.example/acme`,
		Args: console.Need(0, 1, "one DIR"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				o.Dir = args[0]
			}
			if cmd.Flags().Changed("output") {
				return a.pack(cmd, o, flags, output)
			}
			return a.publish(cmd.Context(), o, flags)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.To, "to", "",
		"publish to `TARGET`: oci://REGISTRY/NAMESPACE, oci-layout:DIR, local, or a registry's name")
	a.CompleteFlag(cmd, "to", a.completeRegistries(false))
	f.BoolVar(&o.DryRun, "dry-run", false,
		"show what would be published, without publishing the pack")
	f.BoolVar(&flags.workspace, "workspace", false, "publish all packs of the workspace in DIR")
	f.StringVar(&flags.from, "from", "", "publish the unchanged `FILE` or directory that --output wrote")
	f.StringVarP(&output, "output", "o", "", "write to `FILE`.tar or to a directory instead of publishing")
	f.BoolVar(&o.KeepTags, "no-moving-tags", false, "do not move tags such as 1.4, 1, and latest")
	a.addPackFlags(cmd, &o, &flags)
	return cmd
}

// addPackFlags adds the flags for the output.
func (a *app) addPackFlags(cmd *cobra.Command, o *publish.ReleaseOptions, flags *publishFlags) {
	f := cmd.Flags()
	f.BoolVar(&flags.sign, "sign", false, "sign the release")
	f.StringVar(&flags.key, "signing-key", "", "sign with the private key in `FILE`")
	f.BoolVar(&o.AllowDirty, "allow-dirty", false, "do not warn about uncommitted files")
	f.StringArrayVar(&flags.reports, "test-report", nil, "record the evaluation in the JSON report `FILE` (repeatable)")
	f.StringVar(&flags.format, "format", formatPack,
		"use the artifact format `FORMAT`: skillpm, or agentskills, flux, image, or toolhive for other tools")
	a.CompleteFlag(cmd, "format", func(_ *cobra.Command, _ []string, prefix string) ([]string,
		cobra.ShellCompDirective,
	) {
		return console.Matching(artifactFormats(), prefix), cobra.ShellCompDirectiveNoFileComp
	})
}

// formatPack is the flag's value for oci.FormatPack.
const formatPack = "skillpm"

func artifactFormats() []string {
	return []string{formatPack, oci.FormatAgentSkills, oci.FormatFlux, oci.FormatImage, oci.FormatToolHive}
}

// resolve validates the flags and completes the options.
func (flags publishFlags) resolve(a *app, o *publish.ReleaseOptions) (err error) {
	if !slices.Contains(artifactFormats(), flags.format) {
		return diag.Errorf(diag.Usage, "unknown --format %q", flags.format).
			WithHint("use %s", textx.OneOf(artifactFormats()))
	}
	if flags.format != formatPack {
		o.Format = flags.format
	}
	if o.Evaluations, err = a.evaluations(flags.reports); err != nil {
		return err
	}
	o.Test = a.offlineTests
	if flags.sign || flags.key != "" {
		o.Signer, err = a.Signer(flags.key)
	}
	return err
}

// pack writes the pack to a file or directory.
func (a *app) pack(cmd *cobra.Command, o publish.ReleaseOptions, flags publishFlags, output string) error {
	for _, name := range []string{"to", "dry-run", "workspace", "from", "no-moving-tags"} {
		if cmd.Flags().Changed(name) {
			return diag.Errorf(diag.Usage, "--output cannot be used with --%s", name)
		}
	}
	if output == "" {
		return diag.Errorf(diag.Usage, "--output needs a file or directory")
	}
	if err := flags.resolve(a, &o); err != nil {
		return err
	}
	c, err := a.Author()
	if err != nil {
		return err
	}
	r, err := c.Pack(cmd.Context(), o, output)
	if err != nil {
		return err
	}
	return a.printPacked(c, r)
}

func (a *app) publish(ctx context.Context, o publish.ReleaseOptions, flags publishFlags) error {
	if flags.from != "" && (o.Dir != "" || flags.workspace || flags.sign || flags.key != "" ||
		flags.format != formatPack || len(flags.reports) > 0) {
		return diag.Errorf(diag.Usage,
			"--from cannot be used with DIR, --workspace, --format, --test-report, or --sign").
			WithHint("use --format, --test-report, and --sign with --output, " +
				"or sign the published pack with \"skillpm sign\"")
	}
	if flags.workspace && len(flags.reports) > 0 {
		return diag.Errorf(diag.Usage, "--test-report cannot be used with --workspace, because a report is about one pack")
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
	if err := a.printPublish(r); err != nil || a.JSON || r.DryRun || r.Existed || r.Registry == "" {
		return err
	}
	a.Note("Install the pack with: skillpm install %s --registry %s", r.Pack, r.Registry)
	return nil
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
		return diag.Errorf(diag.Invalid, "cannot publish the workspace: %d of %s failed the checks", invalid,
			textx.Count(len(r.Packs), "pack"))
	}
	return err
}

// printInvalid prints why a pack was not published or packed.
func (a *app) printInvalid(r *publish.ReleaseReport, verb string) error {
	if a.JSON {
		if err := a.PrintJSON(r); err != nil {
			return err
		}
		return console.Reported{Exit: diag.Invalid}
	}
	if err := render.Text(a.App, a.Messages(), render.Outcome{Report: r.Check}); err != nil {
		return err
	}
	return diag.Errorf(diag.Invalid, "cannot %s %s %s: the pack has error findings", verb, r.Pack, r.Version).
		WithHint("fix the errors above, and check the pack with: skillpm publish --dry-run")
}

func (a *app) printPublish(r *publish.ReleaseReport) error {
	if !r.Valid {
		return a.printInvalid(r, "publish")
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
	a.noteBound(r)
	a.noteProvenance(r, "Recorded")
	for _, t := range r.Tests {
		a.Note("Recorded %s.", testText(t))
	}
	if len(r.Tags) > 0 {
		a.Note("Tags: %s.", strings.Join(r.Tags, ", "))
	}
	if r.Signer != "" {
		a.Note("Signed with %s.", console.SignerText(r.Signer))
	}
	switch {
	case r.Existed:
		a.Note("Already published to %s.", r.Target)
	case len(r.Files) == 0:
		a.Note("Published to %s.", r.Target)
	default:
		a.Note("Published to %s (%s).", r.Target, textx.Count(len(r.Files), "file"))
	}
	return nil
}

// testText describes the results of tests.
func testText(t publish.TestCounts) string {
	what := "the offline tests"
	if t.Agent != "" {
		what = "the evaluation with " + console.Flat(t.Agent)
	}
	return fmt.Sprintf("%s: %d of %d passed", what, t.Passed, t.Passed+t.Warned+t.Failed)
}

// noteProvenance names the commit that the provenance of a version states.
func (a *app) noteProvenance(r *publish.ReleaseReport, verb string) {
	if r.Revision != "" {
		a.Note("%s commit %.12s of %s.", verb, r.Revision,
			cmp.Or(r.Source, "a repository without a public address"))
	}
}

// noteBound explains why a pack without --to goes to a registry.
func (a *app) noteBound(r *publish.ReleaseReport) {
	if r.Bound {
		a.Note("The settings bind the owner of the pack to %s. To publish on this machine only, use --to local.",
			r.Target)
	}
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
		fmt.Fprintf(a.Stdout, "\n%s@%s %s\n%s\n", r.Pack, r.Version, r.Digest, report.String())
	}
	for _, name := range slices.Sorted(maps.Keys(r.Requires)) {
		a.Note("%s %s requires %s %s.", r.Pack, r.Version, name, r.Requires[name])
	}
	if r.Existed {
		a.Note("%s %s is already published to %s with the same content.", r.Pack, r.Version, r.Target)
	} else {
		a.Note("Would publish to %s.", r.Target)
		a.noteProvenance(r, "Would record")
	}
	for _, t := range r.Tests {
		a.Note("Would record %s.", testText(t))
	}
	if len(r.Tags) > 0 {
		a.Note("Tags that would move: %s.", strings.Join(r.Tags, ", "))
	}
	a.noteBound(r)
	if len(r.Files) == 0 {
		a.Note("Dry run: %s %s was not published.", r.Pack, r.Version)
		return nil
	}
	a.Note("Dry run: %s %s was not published (%s, %d bytes).", r.Pack, r.Version,
		textx.Count(len(r.Files), "file"), r.Size)
	return nil
}
