# Compiles Python scripts without executing them; see interpreter.go.
import base64, json, sys, warnings

warnings.simplefilter("ignore")
for line in sys.stdin.buffer:
    out = {}
    try:
        text = base64.b64decode(json.loads(line)["text"])
        try:
            text = text.decode("utf-8-sig")
        except UnicodeDecodeError:
            pass  # the script may declare another encoding
        compile(text, "script", "exec", dont_inherit=True)
    except SyntaxError as e:
        out = {"line": e.lineno or 1, "column": e.offset or 0, "message": str(e.msg)[:500]}
    except (ValueError, MemoryError, RecursionError, OverflowError):
        pass
    print(json.dumps(out), flush=True)
