import re,collections,sys
runs=150; F=15000
c=collections.Counter();leaf=collections.defaultdict(collections.Counter)
n=0
for block in open(sys.argv[1]).read().split('\n\n'):
    lines=block.strip().split('\n')
    if len(lines)<2: continue
    syms=[l.strip().split(' ',1)[1] if ' ' in l.strip() else '?' for l in lines[1:]]
    n+=1
    h=[s for s in syms if 'hallmark::' in s or s in('main',)]
    key=tuple(re.sub(r'\(anonymous namespace\)::|hallmark::','',s)[:45] for s in reversed(h))
    seen=set()
    for i in range(1,len(key)+1):
        k=key[:i]
        if len(set(k))==len(k) and i<=int(sys.argv[2]): c[k]+=1
    if not key:
        k=('NONE',)
        kk=[s for s in syms if re.match(r'__x64_sys|__do_sys|asm_exc|do_exit|ret_from',s) or 'execve' in s]
        c[('NONE:'+(kk[-1] if kk else syms[-1])[:40],)]+=1
print(n, 'samples; per run us', n/runs/F*1e6)
for k,v in sorted(c.items(),key=lambda x:x[0]):
    us=v/runs/F*1e6
    if us>=float(sys.argv[3]): print('%7.0f us %s%s'%(us,'  '*(len(k)-1),k[-1]))
