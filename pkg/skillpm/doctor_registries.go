package skillpm

import (
	"context"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/scope"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/fetch"
)

// The bounds of asking registries.
const (
	registryTime     = 15 * time.Second
	registriesAtOnce = 4
)

// checkRegistries asks the configured registries whether they answer, if that is wanted.
func checkRegistries(x *examination) {
	if !x.options.Online {
		return
	}
	w, err := x.client.machine.Open(scope.KindProject, true)
	if err != nil {
		if w, err = x.client.machine.Open(scope.KindUser, true); err != nil {
			return // it was told
		}
	}
	wk, err := x.client.work(x.ctx, w, InstallOptions{})
	if err != nil {
		x.find(Diagnosis{Severity: diag.SeverityError, Message: err.Error(), Fix: diag.HintOf(err)})
		return
	}
	var urls []string
	for _, r := range slices.Concat(w.Manifest.Registries, x.config.Registries) {
		urls = append(urls, r.URL)
	}
	urls = append(urls, wk.Registries.Bound()...)
	slices.Sort(urls)
	urls = slices.Compact(urls)
	errs := make([]error, len(urls))
	var group errgroup.Group
	group.SetLimit(registriesAtOnce)
	for i, url := range urls {
		group.Go(func() error {
			errs[i] = reach(x.ctx, wk.Registries, url)
			return nil
		})
	}
	_ = group.Wait() // the errors are in errs
	for i, url := range urls {
		switch code := diag.CodeOf(errs[i]); {
		case errs[i] == nil:
			x.fact("registry", url+" answers")
		case code == diag.Denied:
			x.find(Diagnosis{
				Severity: diag.SeverityWarning, Path: url, Message: errs[i].Error(), Means: "packs from there can't be fetched", Fix: diag.HintOf(errs[i]),
			})
		default:
			x.find(Diagnosis{
				Severity: diag.SeverityError, Path: url, Message: errs[i].Error(),
				Means: "names are not looked up while it does not answer; what is locked and in the store can be installed", Fix: diag.HintOf(errs[i]),
			})
		}
	}
}

// reach asks one registry, for a bounded time.
func reach(ctx context.Context, r *fetch.Registries, url string) error {
	limited, cancel := context.WithTimeout(ctx, registryTime)
	defer cancel()
	err := r.Ping(limited, url)
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
		return diag.Errorf(diag.Remote, "%s did not answer within %v", url, registryTime)
	}
	return err
}
