package main

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// Sizes of the files of a skill, in bytes.
const (
	skillBytes     = 4 << 10
	referenceBytes = 8 << 10
	scriptBytes    = 1 << 10
	references     = 3
)

// filesOfSkill is how many files a generated skill has: its SKILL.md, the references and a script.
const filesOfSkill = 1 + references + 1

// A pack is a generated pack: the same one for the same parameters, on every machine.
type benchPack struct {
	Name   string // without the owner
	Dir    string
	Skills int
}

// owner is that of all generated packs.
const owner = "bench"

const version = "1.0.0"

// generate writes a pack of n skills to dir.
func generate(dir, name string, n int) (benchPack, error) {
	p := benchPack{Name: name, Dir: dir, Skills: n}
	if err := p.writeManifest(); err != nil {
		return p, err
	}
	w := newWriter(uint64(n))
	for i := range n {
		if err := p.writeSkill(w, i); err != nil {
			return p, err
		}
	}
	return p, nil
}

// generateLarge writes a pack of few and large files to dir: of mib MiB, half of it text and half of it incompressible.
func generateLarge(dir, name string, mib int) (benchPack, error) {
	const skills = 4
	p := benchPack{Name: name, Dir: dir, Skills: skills}
	if err := p.writeManifest(); err != nil {
		return p, err
	}
	w := newWriter(uint64(mib))
	share := mib << 20 / skills / 2
	for i := range skills {
		if err := p.writeSkill(w, i); err != nil {
			return p, err
		}
		assets := filepath.Join(p.skill(i), "assets")
		if err := os.MkdirAll(assets, 0o755); err != nil {
			return p, err
		}
		var text bytes.Buffer
		w.prose(&text, share)
		if err := os.WriteFile(filepath.Join(assets, "corpus.txt"), text.Bytes(), 0o644); err != nil {
			return p, err
		}
		if err := w.writeNoise(filepath.Join(assets, "model.dat"), share); err != nil {
			return p, err
		}
	}
	return p, nil
}

func (p benchPack) skillName(i int) string { return fmt.Sprintf("skill-%04d", i) }

func (p benchPack) skill(i int) string { return filepath.Join(p.Dir, "skills", p.skillName(i)) }

func (p benchPack) writeManifest() error {
	if err := os.MkdirAll(p.Dir, 0o755); err != nil {
		return err
	}
	text := fmt.Sprintf("name: %s/%s\nversion: %q\ndescription: Generated skills for measuring\nlicense: Apache-2.0\n",
		owner, p.Name, version)
	return os.WriteFile(filepath.Join(p.Dir, "skillpm.yaml"), []byte(text), 0o644)
}

func (p benchPack) writeSkill(w *writer, i int) error {
	dir := p.skill(i)
	for _, sub := range []string{"references", "scripts"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o755); err != nil {
			return err
		}
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "---\nname: %s\ndescription: %s Use when %s.\n---\n\n# %s\n\n", p.skillName(i), w.sentence(),
		w.words(6), w.title())
	for r := range references {
		fmt.Fprintf(&b, "- [%s](references/part-%d.md)\n", w.title(), r+1)
	}
	b.WriteString("- [scripts/run.sh](scripts/run.sh) does it all\n\n")
	w.prose(&b, skillBytes)
	if err := os.WriteFile(filepath.Join(dir, "SKILL.md"), b.Bytes(), 0o644); err != nil {
		return err
	}
	for r := range references {
		b.Reset()
		fmt.Fprintf(&b, "# %s\n\n", w.title())
		w.prose(&b, referenceBytes)
		if err := os.WriteFile(filepath.Join(dir, "references", fmt.Sprintf("part-%d.md", r+1)), b.Bytes(),
			0o644); err != nil {
			return err
		}
	}
	b.Reset()
	w.script(&b, scriptBytes)
	return os.WriteFile(filepath.Join(dir, "scripts", "run.sh"), b.Bytes(), 0o755)
}

// writeNoise writes n bytes that do not compress.
func (w *writer) writeNoise(path string, n int) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	var seed [32]byte
	for i := range seed {
		seed[i] = byte(w.random.Uint32())
	}
	if _, err := io.CopyN(f, rand.NewChaCha8(seed), int64(n)); err != nil {
		return err
	}
	return f.Close()
}
