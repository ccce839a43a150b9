package author

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/publish/indexer"
)

func newIndexPublish(a *app) *cobra.Command {
	var o indexer.ReleaseOptions
	cmd := &cobra.Command{
		Use:   "publish [DIR]",
		Short: "Publish an index to an OCI registry",
		Long: `The command publishes the index as one OCI artifact. The tag in --to (default: latest) then
refers to this artifact. The artifact consists of shards: each shard is a file with a part
of the packs. To look up a pack, skillpm downloads and caches only the OCI manifest and one
shard. Equal indexes have equal digests. If you publish an index again, skillpm uploads
only the changed shards.

The address of the published index is index+oci://REGISTRY/REPOSITORY.`,
		Example: `  skillpm index publish --to oci://registry.example/acme/index
  skillpm registry add acme index+oci://registry.example/acme/index
  skillpm index publish ./index --to oci://registry.example/acme/index --dry-run`,
		Args:              console.Need(0, 1, "one DIR"),
		ValidArgsFunction: console.CompleteDirectory,
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.To == "" {
				return diag.Errorf(diag.Usage, "skillpm index publish needs --to").
					WithHint("use --to oci://REGISTRY/REPOSITORY")
			}
			c, err := a.curator()
			if err != nil {
				return err
			}
			o.Dir = console.FirstOf(args)
			r, err := c.Publish(cmd.Context(), o)
			if err != nil {
				return err
			}
			a.Warnings(r.Warnings)
			if a.JSON {
				return a.PrintJSON(r)
			}
			if r.DryRun {
				a.Note("Dry run: would publish %s in %s (%s).", textx.Count(r.Packs, "pack"),
					textx.Count(r.Shards, "shard"), console.BytesText(r.Size))
				return nil
			}
			fmt.Fprintf(a.Stdout, "%s %s\n", r.Registry, r.Digest)
			a.Note("Published %s in %s (%s).", textx.Count(r.Packs, "pack"), textx.Count(r.Shards, "shard"),
				console.BytesText(r.Size))
			return nil
		},
	}
	cmd.Flags().StringVar(&o.To, "to", "",
		"publish to `oci://REGISTRY/REPOSITORY[:TAG]` (default tag: latest)")
	cmd.Flags().BoolVar(&o.DryRun, "dry-run", false, "show what would be published, without publishing the index")
	return cmd
}

func newIndexServe(a *app) *cobra.Command {
	o := indexer.ServeOptions{Listen: "127.0.0.1:0"}
	cmd := &cobra.Command{
		Use:   "serve [DIR]",
		Short: "Serve an index over HTTP",
		Long: `Use the server for tests or behind a proxy. The command prints the address of the server.
Responses have an ETag, and are compressed if the client accepts compression. The server
does not list directories, and does not serve hidden files or links. Press Ctrl-C to stop.

skillpm reads plain HTTP from loopback addresses only. For other addresses, use --tls-cert
and --tls-key, or copy the directory to a web server.`,
		Example: `  skillpm index serve ./index
  skillpm index serve ./index --listen 127.0.0.1:0
  skillpm index serve --listen :8443 --tls-cert server.pem --tls-key server.key`,
		Args:              console.Need(0, 1, "one DIR"),
		ValidArgsFunction: console.CompleteDirectory,
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.curator()
			if err != nil {
				return err
			}
			o.Dir = console.FirstOf(args)
			o.Ready = func(url string) { fmt.Fprintln(a.Stdout, url) }
			return c.Serve(cmd.Context(), o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.Listen, "listen", o.Listen, "listen on `HOST:PORT`; port 0 selects a free port")
	f.StringVar(&o.Cert, "tls-cert", "", "use the TLS certificate in the PEM `FILE`")
	f.StringVar(&o.Key, "tls-key", "", "use the TLS key in the PEM `FILE`")
	return cmd
}
