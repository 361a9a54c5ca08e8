# ns-2 oracle: Barakat and Altman, section 5. Several sources share one bottleneck; each sends
# files of random size, one connection a file, with random pauses between files.
#
#   ns ns2-files.tcl key=value ...           prints one line of JSON
#
# Keys (defaults in brackets):
#   alg     newreno | reno | tahoe | sack | vegas [reno]
#   rate    bottleneck, Mbps [7.5]        rtt    two-way propagation, ms [191]
#   buf     bottleneck buffer, packets [70]
#   flows   sources [5]                   dur    simulated seconds [50]
#   ssthresh initial, packets; 0 = unlimited [50]
#   pkt     packet size, bytes, on the wire [512]
#   ack     1 = an ACK per packet, 2 = delayed ACKs [2]
#   grow    first slow start: ack = 1 packet per ACK, bc = Byte Counting, dbc = Decreasing Byte
#           Counting with dmax 2 (needs ssthresh) [ack]
#   min, max  file size, kB, uniform [100, 1000]
#   pause   longest pause between files, s, uniform from 0 [5]
#   access  access-link rate, Mbps, or a multiple of rate such as 10x [10x]
#   iw      initial window, packets [1]   syn    1 = model the SYN exchange [1]
#   release whose constants: 2.35, or 2.1b6 as ns2-dumbbell.tcl has it (January 2000); overrides syn
#           [2.35]
#   seed    random seed [1]               runs   runs, seeds seed, seed+1, ... [1]
# With runs > 1 each run is a child process and the line reported holds the means.

array set o {
    alg reno rate 7.5 rtt 191 buf 70 flows 5 dur 50 ssthresh 50 pkt 512 ack 2 grow ack
    min 100 max 1000 pause 5 access 10x iw 1 syn 1 seed 1 runs 1
    release 2.35
}
foreach a $argv {
    set i [string first = $a]
    set k [string range $a 0 [expr {$i - 1}]]
    if {$i < 1 || ![info exists o($k)]} { puts stderr "unknown argument: $a"; exit 2 }
    set o($k) [string range $a [expr {$i + 1}] end]
}

if {$o(release) ni {2.35 2.1b6}} { puts stderr "unknown release: $o(release)"; exit 2 }
if {$o(release) eq "2.1b6"} {
    set o(syn) 0
    Agent/TCP set rtxcur_init_ 6.0
    Agent/TCP set minrto_ 0
    Agent/TCP set tcpTick_ 0.1
    Agent/TCP set singledup_ 0
    Agent/TCP set exitFastRetrans_ false
}

# The scenario as the first part of the line reported.
proc said {more} {
    global o
    set j "\{\"sim\":\"ns-[ns-version]\",\"alg\":\"$o(alg)\",\"rate_mbps\":$o(rate)"
    append j ",\"rtt_ms\":$o(rtt),\"buf_pkts\":$o(buf),\"flows\":$o(flows),\"dur_s\":$o(dur)"
    append j ",\"ssthresh\":$o(ssthresh),\"pkt\":$o(pkt),\"ack\":$o(ack)"
    return [append j ",\"grow\":\"$o(grow)\"$more"]
}

if {$o(runs) > 1} {
    set wall0 [clock microseconds]
    set keys {kbps files rtx_ratio util drops}
    foreach k $keys { set sum($k) 0.0; set sq($k) 0.0 }
    for {set r 0} {$r < $o(runs)} {incr r} {
        set seed [expr {$o(seed) + $r}]
        set out [exec [info nameofexecutable] [info script] {*}$argv runs=1 seed=$seed]
        foreach k $keys {
            regexp "\"$k\":(\[0-9.\]+)" $out -> v
            set sum($k) [expr {$sum($k) + $v}]
            set sq($k) [expr {$sq($k) + $v * $v}]
        }
    }
    set n $o(runs)
    set j [said ",\"runs\":$n"]
    foreach k $keys {
        set m [expr {$sum($k) / $n}]
        set var [expr {($sq($k) - $n * $m * $m) / ($n - 1)}]
        append j [format {,"%s":%.4f,"%s_se":%.4f} $k $m $k [expr {$var > 0 ? sqrt($var / $n) : 0}]]
    }
    puts [format {%s,"wall_s":%.3f%s} $j [expr {([clock microseconds] - $wall0) * 1e-6}] "\}"]
    exit 0
}

remove-all-packet-headers
add-packet-header IP TCP Flags
set access $o(access)
if {[string match *x $access]} { set access [expr {[string trimright $access x] * $o(rate)}] }

set ns [new Simulator]
set rng [new RNG]
$rng seed $o(seed)
set bdp [expr {$o(rate) * 1e6 * $o(rtt) * 1e-3 / (8.0 * $o(pkt))}]
Agent/TCP set window_ [expr {int(8 * ($bdp + $o(buf))) + 2000}]
Agent/TCP set windowInit_ $o(iw)
Agent/TCP set syn_ [expr {$o(syn) ? true : false}]
Agent/TCP set delay_growth_ [expr {$o(syn) ? true : false}]
Agent/TCP set useHeaders_ false
Agent/TCP set packetSize_ $o(pkt)

set r1 [$ns node]
set r2 [$ns node]
$ns simplex-link $r1 $r2 $o(rate)Mb [expr {$o(rtt) / 2.0}]ms DropTail
$ns simplex-link $r2 $r1 $o(rate)Mb [expr {$o(rtt) / 2.0}]ms DropTail
$ns queue-limit $r1 $r2 [expr {$o(buf) + 1}]
$ns queue-limit $r2 $r1 1000000
set qm [$ns monitor-queue $r1 $r2 ""]

set class [dict get {newreno Agent/TCP/Newreno reno Agent/TCP/Reno tahoe Agent/TCP
    sack Agent/TCP/Sack1 vegas Agent/TCP/Vegas} $o(alg)]
set sinkclass Agent/TCPSink
if {$o(alg) eq "sack"} { append sinkclass /Sack1 }
if {$o(ack) == 2} { append sinkclass /DelAck }

# Every file gets agents of its own, made when it starts.
proc next {src} {
    global ns o rng class sinkclass snode hnode tcp began size owner seen careful timeouts
    set t [new $class]
    set k [new $sinkclass]
    $ns attach-agent $snode($src) $t
    $ns attach-agent $hnode($src) $k
    $ns connect $t $k
    if {$o(ssthresh) > 0} { $t set ssthresh_ $o(ssthresh) }
    set f [new Application/FTP]
    $f attach-agent $t
    set n [expr {int(ceil([$rng uniform $o(min) $o(max)] * 1000.0 / $o(pkt)))}]
    set began($t) [$ns now]
    set size($t) $n
    set owner($t) $src
    if {$o(grow) ne "ack" || $careful} {
        set seen($t) 0
        set timeouts($t) 0
        set channel [chan create write [list watch $t]]
        fconfigure $channel -buffering none
        $t attach $channel
        if {$o(grow) ne "ack"} { $t trace cwnd_ }
        if {$careful} { $t trace ncwndcuts_ }
    }
    $f produce $n
}
# ns-2 tells a channel of every change of the window, before it sends, and of every cut.
proc watch {t call channel args} {
    if {$call eq "initialize"} { return {initialize finalize watch write} }
    if {$call ne "write"} return
    set line [lindex $args 0]
    if {[string match *ncwndcuts_* $line]} { cut $t } else { count $t }
    return [string length $line]
}
# Before exitFastRetrans_ Reno answered each loss of a window until a timeout; see ns2-dumbbell.tcl.
set careful [expr {$o(alg) eq "reno" && $o(release) eq "2.1b6"}]
proc cut {t} {
    global timeouts
    set n [$t set nrexmit_]
    $t set bugFix_ [expr {$n > $timeouts($t)}]
    set timeouts($t) $n
}
# ns-2 has no sender that counts bytes: its window grows by a packet per ACK. This adds what the
# paper wants beyond that packet: in the first slow start, for an ACK of two packets.
proc count {t} {
    global o seen
    set acked [$t set ack_]
    set new [expr {$acked - $seen($t)}]
    set seen($t) $acked
    set w [$t set cwnd_]
    if {$new >= 2 && [$t set ncwndcuts_] == 0 && ($o(ssthresh) == 0 || $w < $o(ssthresh))} {
        set d [expr {$o(grow) eq "dbc" ? 1 + ($w - 2.0) / ($o(ssthresh) - 1) : 1}]
        $t set cwnd_ [expr {$w - 1 + 2 / $d}]
    }
}
set files 0
set rates 0.0
set uniq 0
set sent 0
Agent/TCP instproc done {} {
    global ns o rng began size owner files rates uniq sent
    incr files
    set rates [expr {$rates + $size($self) * $o(pkt) * 8e-3 / ([$ns now] - $began($self))}]
    incr uniq $size($self)
    incr sent [expr {[$self set ndatapack_] - $o(syn)}]
    $ns at [expr {[$ns now] + [$rng uniform 0 $o(pause)]}] "next $owner($self)"
}
for {set i 0} {$i < $o(flows)} {incr i} {
    set snode($i) [$ns node]
    set hnode($i) [$ns node]
    foreach {a b} [list $snode($i) $r1 $r2 $hnode($i)] {
        $ns duplex-link $a $b ${access}Mb 0ms DropTail
        $ns queue-limit $a $b 1000000
        $ns queue-limit $b $a 1000000
    }
    $ns at [$rng uniform 0 $o(pause)] "next $i"
}
proc report {} {
    global o ns files rates uniq sent qm wall0
    set j [said ",\"seed\":$o(seed)"]
    set capacity [expr {$o(rate) * 1e6 * $o(dur)}]
    append j [format {,"files":%d,"kbps":%.3f,"rtx_ratio":%.5f} \
        $files [expr {$files ? $rates / $files : 0}] [expr {$sent ? 1.0 * $uniq / $sent : 1}]]
    append j [format {,"util":%.5f,"drops":%d,"wall_s":%.3f} \
        [expr {[$qm set pdepartures_] * 8.0 * $o(pkt) / $capacity}] [$qm set pdrops_] \
        [expr {([clock microseconds] - $wall0) * 1e-6}]]
    puts "$j\}"
    flush stdout
    exit 0
}
$ns at $o(dur) report
set wall0 [clock microseconds]
$ns run
