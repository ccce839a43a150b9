package main

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"sort"
	"strings"
)

// writer makes up text: words of syllables, as frequent as words are in a language (the nth one as 1/n), in sentences,
// paragraphs and lists. It compresses like prose and means nothing.
type writer struct {
	random     *rand.Rand
	vocabulary []string
	cumulative []float64 // the probability of this word or one before it
}

// newWriter returns a writer that always writes the same for the same seed.
func newWriter(seed uint64) *writer {
	const words = 4000
	w := &writer{random: rand.New(rand.NewPCG(seed, 1))}
	seen := map[string]bool{}
	total := 0.0
	for len(w.vocabulary) < words {
		word := w.word()
		if seen[word] {
			continue
		}
		seen[word] = true
		w.vocabulary = append(w.vocabulary, word)
		total += 1 / float64(len(w.vocabulary))
		w.cumulative = append(w.cumulative, total)
	}
	for i := range w.cumulative {
		w.cumulative[i] /= total
	}
	return w
}

func (w *writer) word() string {
	const starts, vowels, ends = "bcdfghklmnprstvw", "aeiou", "lmnrst"
	var b strings.Builder
	for range 1 + w.random.IntN(3) {
		b.WriteByte(starts[w.random.IntN(len(starts))])
		b.WriteByte(vowels[w.random.IntN(len(vowels))])
		if w.random.IntN(2) == 0 {
			b.WriteByte(ends[w.random.IntN(len(ends))])
		}
	}
	return b.String()
}

// pick returns a word of the vocabulary.
func (w *writer) pick() string {
	index := sort.SearchFloat64s(w.cumulative, w.random.Float64())
	return w.vocabulary[min(index, len(w.vocabulary)-1)]
}

func (w *writer) words(n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = w.pick()
	}
	return strings.Join(list, " ")
}

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

func (w *writer) title() string { return capital(w.words(2 + w.random.IntN(3))) }

func (w *writer) sentence() string {
	n := 6 + int(math.Abs(w.random.NormFloat64()*6))
	text := w.words(n)
	if n > 10 {
		text += ", " + w.words(5)
	}
	return capital(text) + "."
}

// prose appends Markdown until b has size bytes.
func (w *writer) prose(b *bytes.Buffer, size int) {
	for b.Len() < size {
		switch w.random.IntN(8) {
		case 0:
			fmt.Fprintf(b, "## %s\n\n", w.title())
		case 1:
			for range 2 + w.random.IntN(4) {
				fmt.Fprintf(b, "- %s\n", w.sentence())
			}
			b.WriteByte('\n')
		case 2:
			fmt.Fprintf(b, "```sh\n%s --%s=%d\n```\n\n", w.pick(), w.pick(), w.random.IntN(100))
		default:
			for range 2 + w.random.IntN(4) {
				b.WriteString(w.sentence())
				b.WriteByte(' ')
			}
			b.WriteString("\n\n")
		}
	}
	b.Truncate(size - 1)
	b.WriteByte('\n')
}

// script appends a shell script until b has size bytes or a few more.
func (w *writer) script(b *bytes.Buffer, size int) {
	b.WriteString("#!/bin/sh\nset -eu\n")
	for b.Len() < size {
		fmt.Fprintf(b, "# %s\n%s=%d\necho \"%s $%[2]s\"\n", w.sentence(), "n"+w.pick(), w.random.IntN(1000), w.words(4))
	}
}
